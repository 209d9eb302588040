"""Dumps in the dumper's format, to which a test adds objects."""
import numpy

ATTRIBUTES = {"DeviceType": 10, "DataType": 1, "FormatType": 0, "Type": 0, "Stride": numpy.array([1], "int64")}


def tensor(place, name, values=None, **options):
    """Attributes, and h5py's options for datasets, by name."""
    given = {key: options.pop(key) for key in list(options) if key in ATTRIBUTES or key.startswith("opbench_")}
    values = numpy.arange(8, dtype="f4") if values is None else values
    dataset = place.create_dataset(name, data=values, **options)
    stride = numpy.cumprod([1, *values.shape[:0:-1]])[::-1].astype("int64") if values.ndim else numpy.zeros(0, "int64")
    for attribute, value in {**ATTRIBUTES, "Stride": stride, **given}.items():
        if attribute in given or attribute == "Stride":
            dataset.attrs[attribute] = value
        else:
            dataset.attrs.create(attribute, value, dtype="int32")
    return dataset


def dump(file, operator, number):
    record = file.require_group(f"{operator}/{number}")
    tensor(record.require_group("input"), "self")
    tensor(record.require_group("output"), "result")
