"""The kernels of a build by short names."""

import re


def template_arguments(text):
    """Splits what stands between the first < of the text and its >."""
    parts, part, depth = [], "", 0
    for char in text[text.index("<"):]:
        depth += (char in "<({") - (char in ">)}")
        if depth == 0:
            break
        if char == "," and depth == 1:
            parts.append(part.strip())
            part = ""
        elif depth > 1 or char != "<":
            part += char
    return parts + [part.strip()]


def short_name(kernel):
    """The functor of a Kokkos kernel, and what its policy adds, or None for a kernel of Kokkos."""
    pattern = re.search(r"Kokkos::Impl::Parallel(?:For|Reduce|Scan)<", kernel)
    if pattern:
        functor, *rest = template_arguments(kernel[pattern.end() - 1:])
        if functor.startswith("Kokkos::Impl::CombinedFunctorReducer<"):
            functor = template_arguments(functor)[0]
        policy = next((t for t in rest if re.match(r"Kokkos::\w*Policy<", t)), "Kokkos::Policy<>")
        extra = [t for t in template_arguments(policy)
                 if t and not re.match(r"Kokkos::(Cuda$|IndexType|Schedule|Impl)", t)]
        name = functor + "".join(f" [{t}]" for t in extra)
    else:
        name = re.sub(r"^void |\(.*$", "", kernel)
    if "gradsolve::" not in name:
        return None
    name = re.sub(r"\b(gradsolve|Kokkos)::", "", name).replace("kernels::", "")
    name = re.sub(r"(\d)u\b", r"\1", name)
    return re.sub(r"\s*([<>,&*(){}])\s*", r"\1", name)
