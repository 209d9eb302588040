"""Cases of native.py: operators of language models in real shapes, and their compositions in PyTorch 1.13.

PyTorch gets the layout that suits it. Gradients get what autograd would have saved: attention its shares, a norm its
inverse roots."""
from native_calls import Case, binary, spelled, unary


def attention(batch, heads, key_heads, queries, keys, size, causal):
    """Scores of all heads that share keys are one product."""
    def call(torch, t):
        groups, shared = batch * key_heads, heads // key_heads
        q = t.normal(groups, shared * queries, size)
        k, v = t.normal(groups, keys, size), t.normal(groups, keys, size)
        hidden = torch.ones(queries, keys, dtype=torch.bool).triu(1)
        shift = torch.zeros(queries, keys, dtype=t.dtype).masked_fill_(hidden, float("-inf")).repeat(shared, 1)
        scale = size ** -0.5

        def steps():
            scores = torch.matmul(q, k.transpose(1, 2)).mul_(scale)
            return torch.matmul(torch.softmax(scores.add_(shift) if causal else scores, -1), v)

        def fused_scale():
            scores = torch.baddbmm(shift, q, k.transpose(1, 2), beta=1 if causal else 0, alpha=scale)
            return torch.bmm(torch.softmax(scores, -1), v)

        def masked():
            scores = torch.bmm(q, k.transpose(1, 2)).mul_(scale)
            every = hidden.repeat(shared, 1).expand(scores.shape)
            return torch.bmm(torch._masked_softmax(scores, every, 2, 2), v)
        calls = {"matmul, softmax": steps, "baddbmm, softmax": fused_scale}
        return {**calls, "matmul, _masked_softmax": masked} if causal else calls
    return call


def attention_grad(batch, heads, key_heads, queries, keys, size):
    def call(torch, t):
        groups, shared = batch * key_heads, heads // key_heads
        q, dy = t.normal(groups, shared * queries, size), t.normal(groups, shared * queries, size)
        k, v = t.normal(groups, keys, size), t.normal(groups, keys, size)
        shares, scale = t.uniform(groups, shared * queries, keys), size ** -0.5

        def steps():
            dv = torch.bmm(shares.transpose(1, 2), dy)
            slopes = torch.bmm(dy, v.transpose(1, 2))
            slopes = torch.ops.aten._softmax_backward_data(slopes, shares, -1, t.dtype)
            dq = torch.bmm(slopes, k).mul_(scale)
            return dq, torch.bmm(slopes.transpose(1, 2), q).mul_(scale), dv
        return {"five products": steps}
    return call


def scaled(torch, x, rstd, weight):
    return torch.mul(torch.mul(x, rstd), weight)


def rms_norm(shape, adds=False):
    def call(torch, t):
        a, b, weight = t.normal(*shape), t.normal(*shape), t.normal(shape[-1])

        def summed():
            return torch.add(a, b) if adds else a

        def in_fp32():
            x = summed()
            wide = x.float()
            rstd = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
            return weight * (wide * rstd).to(t.dtype)

        def vector_norm():
            x = summed()
            length = torch.linalg.vector_norm(x, dim=-1, keepdim=True, dtype=torch.float32)
            return scaled(torch, x, torch.rsqrt(length.square_().div_(shape[-1]).add_(1e-6)).to(t.dtype), weight)
        return {"pow, mean, rsqrt": in_fp32, "vector_norm": vector_norm}
    return call


def rms_norm_grad(shape, adds=False):
    def call(torch, t):
        dy, x, more, weight = t.normal(*shape), t.normal(*shape), t.normal(*shape), t.normal(shape[-1])
        rstd = torch.rand(shape[0], 1)

        def steps(dtype):
            grad, wide, inverse = dy.to(dtype), x.to(dtype), rstd.to(dtype)
            xn = wide * inverse
            dweight = (grad * xn).sum(0)
            g = grad * weight.to(dtype)
            slope = (g * xn).mean(-1, keepdim=True)
            dx = g.sub_(xn.mul_(slope)).mul_(inverse).to(t.dtype)
            return dx.add_(more) if adds else dx, dweight
        return {"in fp32": lambda: steps(torch.float32), "in the dtype": lambda: steps(t.dtype)}
    return call


def swiglu(rows, width):
    def call(torch, t):
        a, b = t.normal(rows, 2 * width).chunk(2, -1)
        y = t.empty(rows, width)
        return {"silu, mul": lambda: torch.mul(torch.nn.functional.silu(a), b, out=y)}
    return call


def swiglu_grad(rows, width):
    def call(torch, t):
        dy = t.normal(rows, width)
        a, b = t.normal(rows, 2 * width).chunk(2, -1)
        dx = t.empty(rows, 2 * width)
        da, db = dx.chunk(2, -1)

        def steps():
            torch.ops.aten.silu_backward.grad_input(dy * b, a, grad_input=da)
            torch.mul(dy, torch.nn.functional.silu(a), out=db)
        return {"silu_backward, silu": steps}
    return call


def rope(shape, sign=1):
    def call(torch, t):
        x, half = t.normal(*shape), shape[-1] // 2
        cos, sin = t.normal(shape[0], shape[1], 1, shape[3]), t.normal(shape[0], shape[1], 1, shape[3])
        y = t.empty(*shape)

        def rotate_half():
            turned = torch.cat((-sign * x[..., half:], sign * x[..., :half]), -1)
            return x * cos + turned * sin

        def halves():
            torch.mul(x, cos, out=y)
            y[..., :half].addcmul_(x[..., half:], sin[..., :half], value=-sign)
            y[..., half:].addcmul_(x[..., :half], sin[..., half:], value=sign)
        return {"rotate_half": rotate_half, "addcmul_ of halves": halves}
    return call


def dynamic_quant(rows, columns):
    def call(torch, t):
        x = t.normal(rows, columns)

        def steps(wide):
            scale = wide.abs().amax(-1, keepdim=True).div_(127)
            return wide.div(scale).round_().to(torch.int8), scale
        return {"in fp32": lambda: steps(x.float()), "in the dtype": lambda: steps(x)}
    return call


def quant_matmul(rows, depth, columns):
    """oneDNN's product of int8 through PyTorch's quantised linear layer, whose scale is one number for all tokens."""
    def call(torch, t):
        torch.backends.quantized.engine = "onednn"
        x = torch.quantize_per_tensor(torch.randn(rows, depth), 0.05, 128, torch.quint8)
        weight = torch.quantize_per_tensor(torch.randn(columns, depth), 0.05, 0, torch.qint8)
        packed = torch.ops.quantized.linear_prepack(weight, None)
        return {"quantized.linear": lambda: torch.ops.quantized.linear(x, packed, 0.5, 128)}
    return call


def grouped_matmul(rows, groups, depth, columns):
    def call(torch, t):
        x, weight, y = t.normal(rows, depth), t.normal(groups, depth, columns), t.empty(rows, columns)
        parts, results = x.chunk(groups), y.chunk(groups)

        def steps():
            for part, matrix, result in zip(parts, weight, results):
                torch.mm(part, matrix, out=result)
        return {"mm of each group": steps}
    return call


def gating(rows, experts, k):
    def call(torch, t):
        x = t.normal(rows, experts)
        return {"softmax, topk": lambda: torch.topk(torch.softmax(x.float(), -1), k),
                "topk, softmax": lambda: torch.softmax(torch.topk(x, k).values.float(), -1)}
    return call


def permute(rows, columns, k, experts):
    def call(torch, t):
        x, chosen = t.normal(rows, columns), t.index(experts, rows * k)

        def steps():
            order = torch.argsort(chosen, stable=True)
            return torch.index_select(x, 0, order.div(k, rounding_mode="floor")), torch.argsort(order)
        return {"argsort, index_select": steps}
    return call


def unpermute(rows, columns, k):
    def call(torch, t):
        x, place, share = t.normal(rows * k, columns), t.permutation(rows * k), t.uniform(rows, k)

        def picked():
            return torch.index_select(x, 0, place).view(rows, k, columns)
        return {"index_select, mul, sum": lambda: picked().mul_(share.unsqueeze(-1)).sum(1),
                "index_select, bmm": lambda: torch.bmm(share.unsqueeze(1), picked())}
    return call


def attention_rows(size, name, batch, heads, key_heads, length, width):
    q, k = (batch, heads, length, width), (batch, key_heads, length, width)
    statistics = (batch, heads, length, 8)
    cases = []
    for causal in (False, True):
        attrs, words = ("sparse_mode=2", name + " causal") if causal else ("", name)
        cases.append(Case("flash_attention_score", size, spelled(q, k, k), attrs,
                        attention(batch, heads, key_heads, length, length, width, causal), words, "attention"))
        cases.append(Case("flash_attention_score_grad", size, spelled(q, k, k, q, statistics, statistics, q), attrs,
                        attention_grad(batch, heads, key_heads, length, length, width), words, "attention"))
    return cases


def attentions():
    decode = (4, 1, 4096), (4, 4096, 1024), (4, 4096, 1024)
    return (attention_rows("large", "B1 N16 S1024 D128", 1, 16, 16, 1024, 128)
            + attention_rows("large", "B8 N12 S384 D64", 8, 12, 12, 384, 64)
            + attention_rows("huge", "B1 N32/8 S2048 D128", 1, 32, 8, 2048, 128)
            + [Case("fused_infer_attention_score", "large", spelled(*decode),
                   "num_heads=32,num_key_value_heads=8,scale=0.08838834764", attention(4, 32, 8, 1, 4096, 128, False),
                   "B4 N32/8 one query 4096 keys", "decode")])


def norms():
    x, weight, rstd = (4096, 4096), (4096,), (4096, 1)
    heads, angles = (1, 4096, 32, 128), (1, 4096, 1, 128)
    return [Case(op, "large", spelled(*inputs), "", make, name, family) for op, inputs, make, name, family in (
        ("rms_norm", (x, weight), rms_norm(x), "4096x4096", "norms"),
        ("rms_norm_grad", (x, x, rstd, weight), rms_norm_grad(x), "4096x4096", "norms"),
        ("add_rms_norm", (x, x, weight), rms_norm(x, True), "4096x4096", "norms"),
        ("add_rms_norm_grad", (x, x, x, rstd, weight), rms_norm_grad(x, True), "4096x4096", "norms"),
        ("swiglu", ((1024, 28672),), swiglu(1024, 14336), "1024x28672", "gates"),
        ("swiglu_grad", ((1024, 14336), (1024, 28672)), swiglu_grad(1024, 14336), "1024x28672", "gates"),
        ("rope", (heads, angles, angles), rope(heads), "4096 tokens, 32x128", "rotary"),
        ("rope_grad", (heads, angles, angles), rope(heads, -1), "4096 tokens, 32x128", "rotary"),
        ("silu", (x,), unary("silu")(x), "4096x4096", "gates"),
        ("silu_grad", (x, x), binary("silu_grad")(x), "4096x4096", "gates"),
        ("gelu", (x,), unary("gelu")(x), "4096x4096", "gates"),
        ("gelu_grad", (x, x), binary("gelu_grad")(x), "4096x4096", "gates"),
    )]


def products():
    quantised = (256, 4096), (4096, 6144), (6144,), (0,), (0,), (256,)
    return [
        Case("dynamic_quant", "large", "4096x4096", "", dynamic_quant(4096, 4096), "4096x4096", "quantised"),
        Case("quant_batch_matmul_v3", "large", spelled(*quantised), "output_dtype=bf16",
            quant_matmul(256, 4096, 6144), "256x4096 x 4096x6144", "quantised", ("fp32",)),
        Case("grouped_matmul", "large", "1024x2048,16x2048x768,16", "", grouped_matmul(1024, 16, 2048, 768),
            "16 groups, 1024x2048 x 2048x768", "experts"),
    ]


def routing():
    tokens, k, hidden, experts = 1024, 8, 2048, 128
    indices = f"data.indices=integers(0,{experts - 1})"
    copies = tokens * k
    return [Case(op, "large", spelled(*inputs), attrs, make, f"{tokens} tokens, {k} of {experts}", "experts")
            for op, inputs, attrs, make in (
        ("moe_gating_top_k_softmax", ((tokens, experts),), f"k={k}", gating(tokens, experts, k)),
        ("moe_token_permute", ((tokens, hidden), (tokens, k)), indices, permute(tokens, hidden, k, experts)),
        ("moe_init_routing_v2", ((tokens, hidden), (tokens, k)), f"expert_num={experts}",
         permute(tokens, hidden, k, experts)),
        ("moe_token_unpermute", ((copies, hidden), (copies,), (tokens, k)), "", unpermute(tokens, hidden, k)),
    )]


LLM_CASES = attentions() + norms() + products() + routing()
