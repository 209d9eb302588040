"""Lists the tensors that msaccucmp.py of CANN 8.1 finds in a dump, with its walk: one line "operator seq
tensors" for each execution, in its order, and "device N" at the end. An error of the walk gives a line
on standard error and exit code 1."""
import re
import sys

import h5py

RULE = re.compile("(/[a-zA-Z0-9_]*)(/[0-9]*)(/[a-z]*)")


class Walk:
    def __init__(self, path):
        self.file = h5py.File(path, "r")
        self.device = 0

    def tensors_below(self, node):
        """A node with attributes is a leaf, even if it is a group. A node without attributes has children."""
        if len(node.attrs) > 0:
            return [node] if node.attrs.get("Type") == 0 else []
        if not isinstance(node, h5py.Group):
            raise AttributeError(node.name + ": a dataset without attributes")
        return [tensor for name in node for tensor in self.tensors_below(node[name])]

    def read(self, tensor):
        """Reads a tensor with the steps of msaccucmp that can fail."""
        if not isinstance(tensor, h5py.Dataset):
            raise AttributeError(tensor.name + ": a group that is taken for a tensor")
        rule = RULE.search(tensor.name)
        if rule is None or rule.group(3) not in ("/input", "/output"):
            raise AttributeError(tensor.name + ": neither an input nor an output")
        self.device = self.device or int(tensor.attrs["DeviceType"])
        if int(tensor.attrs["DataType"]) not in (1, 2, 3, 5, 6, 7, 9, 10, 11):
            raise ValueError(tensor.name + ": DataType is not in list")
        return tensor[()]

    def run(self):
        for op in self.file:
            for seq in sorted(self.file[op], key=int):
                tensors = self.tensors_below(self.file[op][seq])
                for tensor in tensors:
                    self.read(tensor)
                print(op, seq, len(tensors))
        print("device", self.device)


try:
    Walk(sys.argv[1]).run()
except Exception as error:
    sys.exit("%s: %s" % (type(error).__name__, error))
