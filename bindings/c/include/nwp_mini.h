/* nwp-mini: column physics and gas-phase chemistry for C, C++ and Fortran.
 *
 * Made by cbindgen from bindings/c/src: change it there. bindings/README.md has examples.
 *
 * A function that can fail returns a status: 0, or an exit code of the program: 2 for a wrong argument, 3 for a
 * file, 4 for the GPU, 5 for numbers, and 70 for a fault of the library itself. nwp_mini_last_error has the text.
 * Texts are in UTF-8. A structure never grows: a later version has other functions beside these.
 */

#ifndef NWP_MINI_H
#define NWP_MINI_H

#include <stddef.h>
#include <stdint.h>

/*
 Version of the interface: functions and structures of one number fit together. A host compares it with NWP_MINI_ABI.
 */
#define NWP_MINI_ABI 1

/*
 A mechanism with the settings of its integration. Threads share it.
 */
typedef struct nwp_mini_chemistry nwp_mini_chemistry;

/*
 A scheme with its options. Threads share it; whoever destroys it sees to it that no other thread uses it.
 */
typedef struct nwp_mini_physics nwp_mini_physics;

/*
 Description of the mechanism of a handle; texts live as long as the handle.
 */
typedef struct nwp_mini_chemistry_about {
  /*
   Its name.
   */
  const char *name;
  /*
   Names of the species: those that reactions change, then the fixed ones.
   */
  const char *const *species;
  /*
   Number of all species.
   */
  size_t species_count;
  /*
   Number of species that reactions change.
   */
  size_t variable_count;
  /*
   Number of reactions.
   */
  size_t reaction_count;
  /*
   Names of the photolysis frequencies.
   */
  const char *const *photolysis;
  /*
   Number of photolysis frequencies.
   */
  size_t photolysis_count;
  /*
   Names of the quantities that rates use beside temperature and air.
   */
  const char *const *quantities;
  /*
   Number of these quantities.
   */
  size_t quantity_count;
} nwp_mini_chemistry_about;

/*
 Cells of a host, in double precision.
 */
typedef struct nwp_mini_cells {
  /*
   Number of cells.
   */
  size_t count;
  /*
   Concentrations in molecules cm-3; those of the species that reactions change are replaced.
   */
  double *species;
  /*
   Elements from species to species.
   */
  size_t stride_species;
  /*
   Elements from cell to cell.
   */
  size_t stride_cell;
  /*
   Temperature of the cells, K.
   */
  const double *temperature;
  /*
   Number density of air, molecules cm-3.
   */
  const double *air_density;
  /*
   Hydrolysis of N2O5, s-1; NULL if no rate depends on it.
   */
  const double *hydrolysis;
  /*
   Local solar time at the start, s; NULL if no rate depends on it.
   */
  const double *solar_time;
  /*
   Photolysis frequencies, s-1, those of a cell side by side; NULL if there are none.
   */
  const double *photolysis;
  /*
   Quantities that rates use, those of a cell side by side; NULL if there are none.
   */
  const double *quantities;
} nwp_mini_cells;

/*
 A function that takes messages: the level (1 for an error, 2 a warning, 3 information, 4 details), the text, which it
 copies if it keeps it, and the pointer that was given with the function. It may be called from any thread.
 */
typedef void (*nwp_mini_log_callback)(int32_t level, const char *text, void *user);

/*
 A field of a scheme.
 */
typedef struct nwp_mini_field {
  /*
   Its name, that of WRF's arguments.
   */
  const char *name;
  /*
   Its units.
   */
  const char *units;
  /*
   Its description.
   */
  const char *about;
} nwp_mini_field;

/*
 A parameter of a scheme, with its value.
 */
typedef struct nwp_mini_parameter {
  /*
   Its name among options.
   */
  const char *name;
  /*
   Its units; NULL if they have a fractional power.
   */
  const char *units;
  /*
   Its description.
   */
  const char *about;
  /*
   Its value in this handle.
   */
  double value;
  /*
   Its smallest value.
   */
  double least;
  /*
   Its largest value.
   */
  double most;
} nwp_mini_parameter;

/*
 Description of the scheme of a handle; texts and arrays live as long as the handle.
 */
typedef struct nwp_mini_physics_about {
  /*
   Its name among options.
   */
  const char *key;
  /*
   Its name in words.
   */
  const char *title;
  /*
   Place of the calls, in words.
   */
  const char *place;
  /*
   The fields of a call, in the order of their pointers: tracers, which a call changes, fields of the air, which it
   reads, and planes at the ground, which it adds to or sets. The first tracer is the full potential temperature.
   */
  const struct nwp_mini_field *fields;
  /*
   Number of tracers.
   */
  size_t tracers;
  /*
   Number of fields of the air.
   */
  size_t air;
  /*
   Number of planes at the ground.
   */
  size_t planes;
  /*
   The fields that are diagnosed, in the order of their pointers.
   */
  const struct nwp_mini_field *diagnosed;
  /*
   Number of diagnosed fields.
   */
  size_t diagnosed_count;
  /*
   The parameters.
   */
  const struct nwp_mini_parameter *parameters;
  /*
   Number of parameters.
   */
  size_t parameter_count;
  /*
   Fewest levels.
   */
  size_t fewest_levels;
  /*
   Most levels.
   */
  size_t most_levels;
} nwp_mini_physics_about;

/*
 Columns in arrays of a host: their numbers, and elements between neighbours. (i,k,j), (k,j,i) and (j,i,k), tiles and
 halos differ in these numbers only. The pointer to a field is that to its lowest cell of the first column, k = 0
 being the ground; strides may be negative.
 */
typedef struct nwp_mini_block {
  /*
   Columns of a row.
   */
  int64_t ni;
  /*
   Rows.
   */
  int64_t nj;
  /*
   Levels.
   */
  int64_t nk;
  /*
   Elements of a field from column to column.
   */
  int64_t stride_i;
  /*
   Elements of a field from row to row.
   */
  int64_t stride_j;
  /*
   Elements of a field from a level to the one above.
   */
  int64_t stride_k;
  /*
   Elements of a plane at the ground from column to column.
   */
  int64_t plane_i;
  /*
   Elements of a plane at the ground from row to row.
   */
  int64_t plane_j;
} nwp_mini_block;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Version of the interface, NWP_MINI_ABI in a header that fits.
 */
uint32_t nwp_mini_abi(void);

/*
 Version of the library, as "0.1.0".
 */
const char *nwp_mini_version(void);

/*
 Text of the last error of this thread; empty without one. The place stays the same as long as the thread lives, and
 its text until the next error.
 */
const char *nwp_mini_last_error(void);

/*
 Reads a mechanism of KPP and makes its tables, from a text of options, as "mechanism=radm2.kpp,method=rodas3": mechanism
 (a file), rate-functions (a file with code for its rates), method, rtol, atol, hstart, rates (frozen or updated) and
 threads (1 without it: the calling thread).

 @param options the text; names and values as in the program
 @param handle gets the handle; NULL after a failure
 */
int32_t nwp_mini_chemistry_create(const char *options,
                                  struct nwp_mini_chemistry **handle);

/*
 Ends a handle; NULL is ignored. No other thread may use it.
 */
void nwp_mini_chemistry_destroy(struct nwp_mini_chemistry *handle);

/*
 Describes the mechanism of a handle.
 */
int32_t nwp_mini_chemistry_describe(const struct nwp_mini_chemistry *handle,
                                    struct nwp_mini_chemistry_about *about);

/*
 Number of the species of this name, from 0 in the order of the description; upper and lower case do not matter.
 */
int32_t nwp_mini_chemistry_species(const struct nwp_mini_chemistry *handle,
                                   const char *name,
                                   size_t *number);

/*
 Integrates cells over dt seconds. A cell that fails keeps its concentrations; the status is 5 then, and the text says
 how many failed, and why the first.

 @param dt length of the call, s
 @param outcomes gets 1 for every cell that was integrated, or a negative number; NULL if nobody wants it
 */
int32_t nwp_mini_chemistry_step(const struct nwp_mini_chemistry *handle,
                                const struct nwp_mini_cells *cells,
                                double dt,
                                int32_t *outcomes);

/*
 Rate constants of all reactions in the units of molecules, cm3 and s, those of a cell side by side. Concentrations are
 not used.
 */
int32_t nwp_mini_chemistry_rates(const struct nwp_mini_chemistry *handle,
                                 const struct nwp_mini_cells *cells,
                                 double *rates);

/*
 Sends messages up to a level to a function of the host; NULL ends that. Without it the library writes nothing.

 @param most the most detailed level: 1 errors, 2 warnings, 3 information, 4 details, times on a GPU among them
 @param callback the function, or NULL
 @param user a pointer that the function gets back
 */
void nwp_mini_log(int32_t most,
                  nwp_mini_log_callback callback,
                  void *user);

/*
 Makes a scheme from a text of options, as "physics=wsm5,backend=gpu,n0r=8e6": physics (the name of a scheme), variant
 (one of its variants), backend (cpu, gpu or auto; without it cpu), threads (1 without it: the calling thread, and no thread is
 made), device, nvrtc-lib, fast-math and tuning (on or off), and the parameters of the scheme.

 @param options the text; names and values as in the program
 @param handle gets the handle; NULL after a failure
 */
int32_t nwp_mini_physics_create(const char *options,
                                struct nwp_mini_physics **handle);

/*
 Ends a handle; NULL is ignored. No other thread may use it, and work on a device is waited for.
 */
void nwp_mini_physics_destroy(struct nwp_mini_physics *handle);

/*
 Describes the scheme of a handle.
 */
int32_t nwp_mini_physics_describe(const struct nwp_mini_physics *handle,
                                  struct nwp_mini_physics_about *about);

/*
 The value of a parameter of the scheme, or of a physical constant of the library by its name in WRF: g cp cpv r_d r_v
 ep_1 ep_2 epsilon xls xlv xlf svpt0 psat cliq cice rhoair0 rhowater rhosnow.
 */
int32_t nwp_mini_physics_parameter(const struct nwp_mini_physics *handle,
                                   const char *name,
                                   double *value);

/*
 One call of the scheme, dt seconds, on arrays of the host in single precision, in place. Several threads may call at
 a time, each with columns of its own; blocks without columns are legal.

 @param fields pointers to the fields in the order of the description, to the lowest cell of the first column each;
        for a plane at the ground NULL if nobody wants it
 @param count number of these pointers
 @param dt length of the call, s
 */
int32_t nwp_mini_physics_step_f32(const struct nwp_mini_physics *handle,
                                  const struct nwp_mini_block *block,
                                  float *const *fields,
                                  size_t count,
                                  double dt);

/*
 The same in double precision.
 */
int32_t nwp_mini_physics_step_f64(const struct nwp_mini_physics *handle,
                                  const struct nwp_mini_block *block,
                                  double *const *fields,
                                  size_t count,
                                  double dt);

/*
 Sets the diagnosed fields of a state, in arrays of the host in single precision.

 @param fields pointers to the tracers and the fields of the air, which are read; those to planes may follow
 @param count number of these pointers
 @param out pointers to the diagnosed fields in the order of the description; NULL for those that nobody wants
 @param out_count number of these pointers
 */
int32_t nwp_mini_physics_diagnose_f32(const struct nwp_mini_physics *handle,
                                      const struct nwp_mini_block *block,
                                      const float *const *fields,
                                      size_t count,
                                      float *const *out,
                                      size_t out_count);

/*
 The same in double precision.
 */
int32_t nwp_mini_physics_diagnose_f64(const struct nwp_mini_physics *handle,
                                      const struct nwp_mini_block *block,
                                      const double *const *fields,
                                      size_t count,
                                      double *const *out,
                                      size_t out_count);

/*
 Queues a call of the scheme on arrays in device memory, in place, in a stream of the caller. The handle was made with
 backend=gpu. Columns of a row are adjacent, levels are whole rows, and planes have the rows of the fields: stride_i =
 plane_i = 1, plane_j = stride_j, and stride_k is a multiple of stride_j. The arrays stay until the work is done.

 @param fields device addresses of all fields in the order of the description, in memory of the host
 @param count number of these addresses
 @param dt length of the call, s
 @param stream a CUstream or cudaStream_t of the primary context of the device; NULL for the default stream
 */
int32_t nwp_mini_physics_step_device_f32(const struct nwp_mini_physics *handle,
                                         const struct nwp_mini_block *block,
                                         float *const *fields,
                                         size_t count,
                                         double dt,
                                         void *stream);

/*
 The same in double precision.
 */
int32_t nwp_mini_physics_step_device_f64(const struct nwp_mini_physics *handle,
                                         const struct nwp_mini_block *block,
                                         double *const *fields,
                                         size_t count,
                                         double dt,
                                         void *stream);

/*
 Waits until the work of a stream is done; a call that failed on the device is reported here.
 */
int32_t nwp_mini_physics_wait(const struct nwp_mini_physics *handle, void *stream);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* NWP_MINI_H */
