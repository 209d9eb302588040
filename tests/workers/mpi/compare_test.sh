#!/bin/sh
# compare_test.sh PROGRAM DUMPS: several ranks and one process write the same bytes, except for the date. Tests comparing
# a pair of dumps and folders of ranks, judging a dump, and converting a device's dumps. DUMPS holds npu.h5 and gpu.h5.
set -eu
program=$1 dumps=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for rank in 0 1 2; do
  mkdir -p npu/step0/rank$rank gpu/step0/rank$rank
  cp "$dumps/npu.h5" npu/step0/rank$rank/
  cp "$dumps/gpu.h5" gpu/step0/rank$rank/
done

# compare LABEL ACTUAL EXPECTED LAUNCHER...: writes the results without their date to LABEL.txt
compare() {
  label=$1 actual=$2 expected=$3
  shift 3
  rm -rf out
  status=0
  "$@" "$program" compare "$actual" "$expected" -o out --quiet >"$label.out" 2>"$label.err" || status=$?
  [ $status -eq 1 ] || {
    echo "$label ends with $status" >&2
    cat "$label.out" "$label.err" >&2
    exit 1
  }
  find out -type f | sort | sed 's/result_[0-9]*/result/' >"$label.txt"
  find out -type f | sort | xargs cat | sed '/"date":/d' >>"$label.txt"
  sed 's/result_[0-9]*/result/' "$label.out" >>"$label.txt"
}

for kind in pair job; do
  actual=$dumps/npu.h5 expected=$dumps/gpu.h5
  [ $kind = pair ] || actual=npu expected=gpu
  compare $kind.alone "$actual" "$expected" env
  for ranks in 1 2 4; do
    compare $kind.$ranks "$actual" "$expected" mpirun --allow-run-as-root --oversubscribe --bind-to none -np $ranks
    cmp $kind.alone.txt $kind.$ranks.txt
  done
done

# judge LABEL LAUNCHER...
judge() {
  label=$1
  shift
  status=0
  "$@" "$program" judge "$dumps/npu.h5" "$dumps/gpu.h5" --json judge.json --quiet >"$label.out" 2>"$label.err" || status=$?
  [ $status -le 1 ] && sed '/"date":/d' judge.json >"$label.txt" && sed '/ in [0-9.]* s$/d' "$label.out" >>"$label.txt" || {
    echo "$label ends with $status" >&2
    cat "$label.out" "$label.err" >&2
    exit 1
  }
  rm judge.json
}

judge judge.alone env
for ranks in 1 2 4; do
  judge judge.$ranks mpirun --allow-run-as-root --oversubscribe --bind-to none -np $ranks
  cmp judge.alone.txt judge.$ranks.txt
done

# Dumps of a device, one of them damaged.
cat >acl.json <<'END'
{"dump": {"dump_path": "device", "dump_mode": "all", "dump_op_switch": "on"}}
END
"$program" --case 'relu[2x32x8x8,fp16,NC1HWC0]' --case 'softplus[2x32x8x8,fp16,NC1HWC0]' --case 'relu[2x16x4x4,fp32,NCHW]' \
  --variant native --threads 1 --time 0 --acl-json acl.json --quiet >device.out 2>&1
damaged=$(find device -type f | sort | head -1)
head -c 40 "$damaged" >cut && mv cut "$damaged"

# convert LABEL LAUNCHER...
convert() {
  label=$1
  shift
  status=0
  "$@" "$program" convert -d device -out converted -v 2 -f NCHW --quiet >"$label.out" 2>"$label.err" || status=$?
  [ $status -eq 2 ] || {
    echo "$label ends with $status" >&2
    cat "$label.out" "$label.err" >&2
    exit 1
  }
  (cd converted && find . -type f | sort | xargs md5sum) >"$label.txt"
  cat "$label.out" >>"$label.txt"
  rm -r converted
}

convert convert.alone env
[ "$(grep -c npy convert.alone.txt)" -ge 4 ] && grep -q convert_failed convert.alone.txt || {
  cat convert.alone.txt convert.alone.err >&2
  exit 1
}
for ranks in 1 2 4; do
  convert convert.$ranks mpirun --allow-run-as-root --oversubscribe --bind-to none -np $ranks
  cmp convert.alone.txt convert.$ranks.txt
done

# Every command reports the efficiency of the ranks exactly once.
for words in "compare $dumps/npu.h5 $dumps/gpu.h5" 'compare npu gpu' "judge $dumps/npu.h5" 'convert -d device -out converted -v 2'; do
  # shellcheck disable=SC2086
  mpirun --allow-run-as-root --oversubscribe --bind-to none -np 2 "$program" $words >said.out 2>said.err || :
  [ "$(grep -c 'opbench: 2 ranks, efficiency [0-9]* %: .* of units / (2 ranks x .*)$' said.err)" -eq 1 ] || {
    echo "$words by two ranks says no efficiency" >&2
    cat said.err >&2
    exit 1
  }
done
