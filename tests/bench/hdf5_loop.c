/* hdf5_loop FILE...: what listing a dump costs with the HDF5 library and nothing else. Opens every
   object of the files, one after the other, and reads all attributes and all data. */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long objects, attributes, bytes;

static herr_t read_attribute(hid_t object, const char* name, const H5A_info_t* info, void* data) {
  char value[4096];
  const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  const hid_t type = H5Aget_type(attribute);
  (void)info, (void)data;
  if (H5Aget_storage_size(attribute) <= sizeof value) H5Aread(attribute, type, value);
  H5Tclose(type);
  H5Aclose(attribute);
  ++attributes;
  return 0;
}

static void read_data(hid_t dataset) {
  const hid_t type = H5Dget_type(dataset);
  const hid_t space = H5Dget_space(dataset);
  const size_t size = (size_t)H5Sget_simple_extent_npoints(space) * H5Tget_size(type);
  void* data = malloc(size ? size : 1);
  if (data != NULL && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0) bytes += size;
  free(data);
  H5Sclose(space);
  H5Tclose(type);
}

static herr_t visit(hid_t group, const char* name, const H5L_info_t* info, void* data) {
  const hid_t object = H5Oopen(group, name, H5P_DEFAULT);
  (void)info, (void)data;
  if (object < 0) return 0;
  ++objects;
  H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, read_attribute, NULL);
  if (H5Iget_type(object) == H5I_DATASET) {
    read_data(object);
  } else if (H5Iget_type(object) == H5I_GROUP) {
    H5Literate(object, H5_INDEX_NAME, H5_ITER_INC, NULL, visit, NULL);
  }
  H5Oclose(object);
  return 0;
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const hid_t file = H5Fopen(argv[i], H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0) return 1;
    H5Literate(file, H5_INDEX_NAME, H5_ITER_INC, NULL, visit, NULL);
    H5Fclose(file);
  }
  printf("%lu objects, %lu attributes, %lu bytes\n", objects, attributes, bytes);
  return 0;
}
