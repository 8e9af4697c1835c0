/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX Runtime as the worker sees it: one exported symbol that gives a table of functions. Functions are only ever
 * added at the table's end, so each has a number for good; those that we use are listed here, and no header of theirs
 * is needed. All return NULL or a status that must be released, but for GetErrorMessage and the Release functions. */
#ifndef BERTH_RUNTIME_ORT_API_H
#define BERTH_RUNTIME_ORT_API_H

#include <stddef.h>
#include <stdint.h>

typedef struct ort_status ort_status;
typedef struct ort_env ort_env;
typedef struct ort_options ort_options; /* of a session */
typedef struct ort_session ort_session;
typedef struct ort_value ort_value;
typedef struct ort_memory ort_memory; /* OrtMemoryInfo */
typedef struct ort_allocator ort_allocator;
typedef struct ort_type ort_type;               /* OrtTypeInfo */
typedef struct ort_tensor_type ort_tensor_type; /* OrtTensorTypeAndShapeInfo */
typedef struct ort_binding ort_binding;         /* OrtIoBinding */
typedef struct ort_pairs ort_pairs;             /* OrtKeyValuePairs */
typedef struct ort_cuda ort_cuda;               /* OrtCUDAProviderOptionsV2 */

enum {
    ORT_API_WANTED = 25, /* the first version that takes placements */
    ORT_LOG_ERROR = 3,
    ORT_OPTIMISE_NONE = 0,
    ORT_OPTIMISE_BASIC = 1,
    ORT_OPTIMISE_EXTENDED = 2,
    ORT_OPTIMISE_ALL = 99,
    ORT_ALLOCATOR_DEVICE = 0, /* OrtDeviceAllocator */
    ORT_ALLOCATOR_ARENA = 1,  /* OrtArenaAllocator */
    ORT_MEMORY_DEFAULT = 0,
    ORT_STRING = 8, /* element types are numbered as in ONNX files */
};

/* number, returns, name, takes */
#define ORT_FUNCTIONS(X)                                                                                         \
    X(2, const char *, GetErrorMessage, (const ort_status *))                                                    \
    X(3, ort_status *, CreateEnv, (int log, const char *id, ort_env **))                                         \
    X(7, ort_status *, CreateSession, (const ort_env *, const char *path, const ort_options *, ort_session **))  \
    X(8, ort_status *, CreateSessionFromArray,                                                                   \
      (const ort_env *, const void *bytes, size_t, const ort_options *, ort_session **))                         \
    X(9, ort_status *, Run,                                                                                      \
      (ort_session *, const void *how, const char *const *in_names, const ort_value *const *in, size_t n_in,     \
       const char *const *out_names, size_t n_out, ort_value **out))                                             \
    X(10, ort_status *, CreateSessionOptions, (ort_options **))                                                  \
    X(11, ort_status *, SetOptimizedModelFilePath, (ort_options *, const char *path))                            \
    X(14, ort_status *, EnableProfiling, (ort_options *, const char *prefix))                                    \
    X(17, ort_status *, DisableMemPattern, (ort_options *))                                                      \
    X(23, ort_status *, SetSessionGraphOptimizationLevel, (ort_options *, int level))                            \
    X(24, ort_status *, SetIntraOpNumThreads, (ort_options *, int n))                                            \
    X(30, ort_status *, SessionGetInputCount, (const ort_session *, size_t *))                                   \
    X(31, ort_status *, SessionGetOutputCount, (const ort_session *, size_t *))                                  \
    X(33, ort_status *, SessionGetInputTypeInfo, (const ort_session *, size_t, ort_type **))                     \
    X(34, ort_status *, SessionGetOutputTypeInfo, (const ort_session *, size_t, ort_type **))                    \
    X(36, ort_status *, SessionGetInputName, (const ort_session *, size_t, ort_allocator *, char **))            \
    X(37, ort_status *, SessionGetOutputName, (const ort_session *, size_t, ort_allocator *, char **))           \
    X(48, ort_status *, CreateTensorAsOrtValue,                                                                  \
      (ort_allocator *, const int64_t *dims, size_t rank, int type, ort_value **))                               \
    X(49, ort_status *, CreateTensorWithDataAsOrtValue,                                                          \
      (const ort_memory *, void *data, size_t bytes, const int64_t *dims, size_t rank, int type, ort_value **))  \
    X(50, ort_status *, IsTensor, (const ort_value *, int *))                                                    \
    X(51, ort_status *, GetTensorMutableData, (ort_value *, void **))                                            \
    X(52, ort_status *, FillStringTensor, (ort_value *, const char *const *, size_t n))                          \
    X(53, ort_status *, GetStringTensorDataLength, (const ort_value *, size_t *))                                \
    X(54, ort_status *, GetStringTensorContent, (const ort_value *, void *, size_t, size_t *offsets, size_t n))  \
    X(55, ort_status *, CastTypeInfoToTensorInfo, (const ort_type *, const ort_tensor_type **))                  \
    X(60, ort_status *, GetTensorElementType, (const ort_tensor_type *, int *))                                  \
    X(61, ort_status *, GetDimensionsCount, (const ort_tensor_type *, size_t *))                                 \
    X(62, ort_status *, GetDimensions, (const ort_tensor_type *, int64_t *, size_t))                             \
    X(65, ort_status *, GetTensorTypeAndShape, (const ort_value *, ort_tensor_type **))                          \
    X(68, ort_status *, CreateMemoryInfo, (const char *name, int allocator, int id, int memory, ort_memory **))  \
    X(69, ort_status *, CreateCpuMemoryInfo, (int allocator, int memory, ort_memory **))                         \
    X(76, ort_status *, AllocatorFree, (ort_allocator *, void *))                                                \
    X(78, ort_status *, GetAllocatorWithDefaultOptions, (ort_allocator **))                                      \
    X(92, void, ReleaseEnv, (ort_env *))                                                                         \
    X(93, void, ReleaseStatus, (ort_status *))                                                                   \
    X(94, void, ReleaseMemoryInfo, (ort_memory *))                                                               \
    X(95, void, ReleaseSession, (ort_session *))                                                                 \
    X(96, void, ReleaseValue, (ort_value *))                                                                     \
    X(98, void, ReleaseTypeInfo, (ort_type *))                                                                   \
    X(99, void, ReleaseTensorTypeAndShapeInfo, (ort_tensor_type *))                                              \
    X(100, void, ReleaseSessionOptions, (ort_options *))                                                         \
    X(110, ort_status *, SessionEndProfiling, (ort_session *, ort_allocator *, char **))                         \
    X(130, ort_status *, AddSessionConfigEntry, (ort_options *, const char *key, const char *value))             \
    X(131, ort_status *, CreateAllocator, (const ort_session *, const ort_memory *, ort_allocator **))           \
    X(132, void, ReleaseAllocator, (ort_allocator *))                                                            \
    X(133, ort_status *, RunWithBinding, (ort_session *, const void *how, const ort_binding *))                  \
    X(134, ort_status *, CreateIoBinding, (ort_session *, ort_binding **))                                       \
    X(135, void, ReleaseIoBinding, (ort_binding *))                                                              \
    X(136, ort_status *, BindInput, (ort_binding *, const char *name, const ort_value *))                        \
    X(138, ort_status *, BindOutputToDevice, (ort_binding *, const char *name, const ort_memory *))              \
    X(140, ort_status *, GetBoundOutputValues, (const ort_binding *, ort_allocator *, ort_value ***, size_t *n)) \
    X(202, ort_status *, SynchronizeBoundInputs, (ort_binding *))                                                \
    X(203, ort_status *, SynchronizeBoundOutputs, (ort_binding *))                                               \
    X(204, ort_status *, AppendCudaV2, (ort_options *, const ort_cuda *))                                        \
    X(205, ort_status *, CreateCudaOptions, (ort_cuda **))                                                       \
    X(206, ort_status *, UpdateCudaOptions, (ort_cuda *, const char *const *, const char *const *, size_t))      \
    X(207, ort_status *, GetCudaOptionsAsString, (const ort_cuda *, ort_allocator *, char **))                   \
    X(208, void, ReleaseCudaOptions, (ort_cuda *))                                                               \
    X(216, ort_status *, AppendProvider,                                                                         \
      (ort_options *, const char *name, const char *const *keys, const char *const *values, size_t n))           \
    X(297, const char *, GetKeyValue, (const ort_pairs *, const char *key))                                      \
    X(300, void, ReleaseKeyValuePairs, (ort_pairs *))                                                            \
    X(319, ort_status *, AllocatorGetStats, (const ort_allocator *, ort_pairs **))

#define ORT_MEMBER(number, returns, name, takes) returns(*name) takes; /* NOLINT(bugprone-macro-parentheses) */
typedef struct ort_api {
    ORT_FUNCTIONS(ORT_MEMBER)
} ort_api;
#undef ORT_MEMBER

/* What the library exports. */
typedef struct ort_base {
    void *const *(*GetApi)(uint32_t version); /* NULL: older than that */
    const char *(*GetVersionString)(void);
} ort_base;

#endif
