#!/usr/bin/env python3
"""A second reader of safetensors, from the format's description alone: python3 read_safetensors.py FILE.

Checks the digest and prints metadata and tensors as JSON.
"""
import hashlib
import json
import math
import struct
import sys

TYPES = {"F32": "f", "F64": "d", "I64": "q"}


def main():
    data = open(sys.argv[1], "rb").read()
    size, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + size])
    metadata = header.pop("__metadata__")
    digest = metadata.pop("digest")
    assert data.count(digest.encode()) == 1
    found = hashlib.sha256(data.replace(digest.encode(), b"0" * 64)).hexdigest()
    assert found == digest, f"digest {digest}, content {found}"
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        values = struct.unpack(f"<{math.prod(entry['shape'])}{TYPES[entry['dtype']]}", data[8 + size + begin:8 + size + end])
        tensors[name] = {"shape": entry["shape"], "values": values}
    print(json.dumps({"metadata": metadata, "tensors": tensors}))


main()
