"""Cases of native.py: element-wise functions, losses and norms in addition to those of native_calls.py."""
from native_calls import Case, both_sizes, spelled

HIDDEN, SMALL = (32, 128, 768), (64, 1000)


def of_inputs(op, count, make, attrs=""):
    """`make(torch, inputs, output)` returns the computation."""
    def made(shape):
        def call(torch, t):
            return make(torch, [t.normal(*shape) for _ in range(count)], t.empty(*shape))
        return call
    return both_sizes(op, HIDDEN, SMALL, attrs, made, inputs=count)


def named(op, count=1, inputs=lambda tensors: tensors):
    """A function of torch with this name."""
    def make(torch, tensors, y):
        function, tensors = getattr(torch, op), inputs(tensors)
        return lambda: function(*tensors, out=y)
    return of_inputs(op, count, make)


def magnitudes(tensors):
    return [tensor.abs() for tensor in tensors]


def aten(op, count, arguments=lambda tensors: tensors, name=None, overload="out", attrs=""):
    """An operator of ATen that writes into an output."""
    def make(torch, tensors, y):
        function = getattr(getattr(torch.ops.aten, name or op), overload)
        values, key = arguments(tensors), {"out": "out"}.get(overload, "grad_input")
        return lambda: function(*values, **{key: y})
    return of_inputs(op, count, make, attrs)


def compared(op):
    def make(torch, tensors, _):
        y, function = torch.empty(tensors[0].shape, dtype=torch.bool), getattr(torch, op)
        return lambda: function(*tensors, out=y)
    return of_inputs(op, 2, make)


def functions():
    cases = []
    for op in ("abs", "exp", "tanh", "sigmoid", "erf", "sin", "cos", "neg", "ceil", "trunc", "round"):
        cases += named(op)
    for op in ("log", "sqrt", "rsqrt"):
        cases += named(op, 1, magnitudes)
    for op in ("sub", "div", "maximum", "minimum", "fmod", "remainder"):
        cases += named(op, 2)
    for op in ("addcmul", "addcdiv"):
        cases += named(op, 3)
    cases += compared("eq") + compared("lt")
    cases += of_inputs("clamp", 1, lambda torch, x, y: lambda: torch.clamp(x[0], -1, 1, out=y), "min=-1,max=1")
    for exponent in (2, 3):
        cases += of_inputs("pow", 1, lambda torch, x, y, p=exponent: lambda: torch.pow(x[0], p, out=y),
                           f"exponent={exponent}")
    return cases


def activations():
    cases = []
    for op in ("hardswish", "hardsigmoid", "mish", "log_sigmoid"):
        cases += aten(op, 1)
    cases += aten("leaky_relu", 1, lambda x: [*x, 0.01])
    cases += aten("elu", 1, lambda x: [*x, 1, 1, 1])
    cases += aten("threshold", 1, lambda x: [*x, 0.1, 0], attrs="threshold=0.1,value=0")
    cases += aten("softshrink", 1, lambda x: [*x, 0.5])
    cases += aten("hardshrink", 1, lambda x: [*x, 0.5])
    for op, more in (("tanh", []), ("sigmoid", []), ("leaky_relu", [0.01, False]), ("hardsigmoid", [])):
        cases += aten(f"{op}_grad", 2, lambda x, more=more: [*x, *more], f"{op}_backward", "grad_input")
    cases += aten("elu_grad", 2, lambda x: [x[0], 1, 1, 1, False, x[1]], "elu_backward", "grad_input")
    return cases


def losses():
    cases = []
    for op in ("mse_loss", "l1_loss", "smooth_l1_loss"):
        for reduction in ("mean", "none"):
            def make(torch, tensors, _, op=op, reduction=reduction):
                return lambda: getattr(torch.nn.functional, op)(*tensors, reduction=reduction)
            cases += of_inputs(op, 2, make, f"reduction={reduction}")
    for op, more in (("mse_loss", [0]), ("smooth_l1_loss", [0, 1.0])):
        cases += aten(f"{op}_grad", 3, lambda x, more=more: [*x, *more], f"{op}_backward", "grad_input",
                      "reduction=none")
    return cases


def lines():
    """Reductions of the last axis."""
    cases = []
    for size, shape in (("large", (32, 12, 128, 128)), ("small", SMALL)):
        def case(op, function, attrs, inputs=1, shape=shape, size=size):
            def call(torch, t):
                tensors = [t.normal(*shape) for _ in range(inputs)]
                return lambda: function(torch, *tensors)
            cases.append(Case(op, size, spelled(*[shape] * inputs), attrs, call))
        last = len(shape) - 1
        case("norm", lambda torch, x, last=last: torch.linalg.vector_norm(x, 2, dim=last), f"axes=[{last}]")
        case("norm", lambda torch, x: torch.linalg.vector_norm(x, 2, dim=0), "axes=[0]")
        case("amax", lambda torch, x: torch.amax(x, -1), "axes=[-1]")
        case("amin", lambda torch, x: torch.amin(x, -1), "axes=[-1]")
        case("log_softmax", lambda torch, x: torch.log_softmax(x, -1), "dim=-1")
        case("log_softmax_grad", lambda torch, dy, y: torch.ops.aten._log_softmax_backward_data(dy, y, -1, y.dtype),
             "dim=-1", 2)
    return cases


MATH_CASES = functions() + activations() + losses() + lines()
