"""layout.py: the enumerations of the packed image. The position of a name is its number; src/events/catalog/format.h has the same
order.
"""
ENCODERS = ["x86", "nhm_unc", "snbep_unc", "amd64", "netburst", "rapl", "arm", "code", "torrent", "perf", "perf_raw"]
PERF_ENCODERS = ["x86", "nhm_unc", "snbep_unc", "amd64", "netburst", "arm", "arm_unc", "code_raw", "code_sysfs", "s390x",
                 "perf", "perf_raw"]
PERF_ATTRS = ["x86", "snbep_unc", "amd64", "amd64_nb", "netburst", "arm", "no_precise", "all", "perf"]
MODSETS = ["none", "x86", "nhm_unc", "amd64", "netburst", "snbep_unc", "arm", "torrent", "perf"]
TYPES = ["unknown", "core", "uncore", "os"]
ARCHES = ["x86", "i386", "arm64", "arm", "powerpc", "s390x", "riscv", "any"]
CPU_KINDS = ["intel", "amd", "arm", "pvr", "x86arch", "linux", "sysfs", "devicetree", "riscv"]
PERF_TYPES = {"hardware": 0, "software": 1, "tracepoint": 2, "hw_cache": 3, "raw": 4}

PMU_FLAGS = ["raw_umask", "arch_dfl", "no_smpl", "spec", "deprecated", "edge_needs_cmask", "extpebs", "occ", "cbo", "cha",
             "needs_sysfs", "counts_own_events", "attr_code_filt", "host_events"]
EVENT_FLAGS = ["fixed", "pebs", "grp_excl", "extra_reg", "frontend", "filt_umask", "force_filt0", "spec", "deprecated",
               "code_dup", "no_autoencode", "fallback_gen", "ibs_fetch", "ibs_op", "optional", "limited", "mask_pebs",
               "limited_masks"]
MASK_FLAGS = ["dfl", "ncombo", "excl_grp_gt", "excl_grp_but_0", "grp_dfl_none", "grp_req", "code_override", "ldlat", "fethr",
              "pebs", "no_mods", "omit", "fixed", "no_autoencode", "limited", "spec"]
PLM = {"u": 8, "k": 1, "h": 16}


def bits(names, known):
    """The bit set of `names`, whose bits are positions in `known`. Raises ValueError for a name that is not known."""
    unknown = set(names) - set(known)
    if unknown:
        raise ValueError(f"unknown: {', '.join(sorted(unknown))}")
    return sum(1 << known.index(name) for name in set(names))
