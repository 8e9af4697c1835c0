/* SPDX-License-Identifier: Apache-2.0 */
/* What exported loaders use of ONNX Runtime's C interface, for tests: packages for Python bring the library without its
 * header. The table of functions only ever grows at its end, so the places below hold for all versions. */
#ifndef ONNXRUNTIME_C_API_H
#define ONNXRUNTIME_C_API_H

#include <stddef.h>
#include <stdint.h>

#define ORTCHAR_T char

typedef struct OrtEnv OrtEnv;
typedef struct OrtStatus OrtStatus;
typedef struct OrtSession OrtSession;
typedef struct OrtSessionOptions OrtSessionOptions;
typedef struct OrtValue OrtValue;
typedef struct OrtAllocator OrtAllocator;
typedef struct OrtMemoryInfo OrtMemoryInfo;
typedef struct OrtTensorTypeAndShapeInfo OrtTensorTypeAndShapeInfo;
typedef struct OrtCUDAProviderOptionsV2 OrtCUDAProviderOptionsV2;
typedef struct OrtTensorRTProviderOptionsV2 OrtTensorRTProviderOptionsV2;

typedef struct OrtApi {
    void *slot_0[2];
    const char *(*GetErrorMessage)(const OrtStatus *); /* 2 */
    OrtStatus *(*CreateEnv)(int level, const char *name, OrtEnv **out);
    void *slot_4[3];
    OrtStatus *(*CreateSession)(const OrtEnv *, const ORTCHAR_T *, const OrtSessionOptions *, OrtSession **); /* 7 */
    void *slot_8[1];
    OrtStatus *(*Run)(OrtSession *, const void *, const char *const *, const OrtValue *const *, size_t,
                      const char *const *, size_t, OrtValue **); /* 9 */
    OrtStatus *(*CreateSessionOptions)(OrtSessionOptions **);
    void *slot_11[3];
    OrtStatus *(*EnableProfiling)(OrtSessionOptions *, const ORTCHAR_T *); /* 14 */
    void *slot_15[15];
    OrtStatus *(*SessionGetInputCount)(const OrtSession *, size_t *); /* 30 */
    OrtStatus *(*SessionGetOutputCount)(const OrtSession *, size_t *);
    void *slot_32[4];
    OrtStatus *(*SessionGetInputName)(const OrtSession *, size_t, OrtAllocator *, char **); /* 36 */
    OrtStatus *(*SessionGetOutputName)(const OrtSession *, size_t, OrtAllocator *, char **);
    void *slot_38[11];
    OrtStatus *(*CreateTensorWithDataAsOrtValue)(const OrtMemoryInfo *, void *, size_t, const int64_t *, size_t, int,
                                                 OrtValue **); /* 49 */
    void *slot_50[1];
    OrtStatus *(*GetTensorMutableData)(OrtValue *, void **); /* 51 */
    void *slot_52[12];
    OrtStatus *(*GetTensorShapeElementCount)(const OrtTensorTypeAndShapeInfo *, size_t *); /* 64 */
    OrtStatus *(*GetTensorTypeAndShape)(const OrtValue *, OrtTensorTypeAndShapeInfo **);
    void *slot_66[3];
    OrtStatus *(*CreateCpuMemoryInfo)(int, int, OrtMemoryInfo **); /* 69 */
    void *slot_70[8];
    OrtStatus *(*GetAllocatorWithDefaultOptions)(OrtAllocator **); /* 78 */
    void *slot_79[13];
    void (*ReleaseEnv)(OrtEnv *); /* 92 */
    void (*ReleaseStatus)(OrtStatus *);
    void *slot_94[1];
    void (*ReleaseSession)(OrtSession *); /* 95 */
    void *slot_96[4];
    void (*ReleaseSessionOptions)(OrtSessionOptions *); /* 100 */
    void *slot_101[9];
    OrtStatus *(*SessionEndProfiling)(OrtSession *, OrtAllocator *, char **); /* 110 */
    void *slot_111[19];
    OrtStatus *(*AddSessionConfigEntry)(OrtSessionOptions *, const char *, const char *); /* 130 */
    void *slot_131[73];
    OrtStatus *(*SessionOptionsAppendExecutionProvider_CUDA_V2)(OrtSessionOptions *, const OrtCUDAProviderOptionsV2 *);
    OrtStatus *(*CreateCUDAProviderOptions)(OrtCUDAProviderOptionsV2 **);
    OrtStatus *(*UpdateCUDAProviderOptions)(OrtCUDAProviderOptionsV2 *, const char *const *, const char *const *,
                                            size_t);
    void *slot_207[1];
    void (*ReleaseCUDAProviderOptions)(OrtCUDAProviderOptionsV2 *); /* 208 */
    void *slot_209[7];
    OrtStatus *(*SessionOptionsAppendExecutionProvider)(OrtSessionOptions *, const char *, const char *const *,
                                                        const char *const *, size_t); /* 216 */
    /* Compiled, not called: these are not in their places. */
    OrtStatus *(*SessionOptionsAppendExecutionProvider_TensorRT_V2)(OrtSessionOptions *,
                                                                    const OrtTensorRTProviderOptionsV2 *);
    OrtStatus *(*CreateTensorRTProviderOptions)(OrtTensorRTProviderOptionsV2 **);
    OrtStatus *(*UpdateTensorRTProviderOptions)(OrtTensorRTProviderOptionsV2 *, const char *const *,
                                                const char *const *, size_t);
    void (*ReleaseTensorRTProviderOptions)(OrtTensorRTProviderOptionsV2 *);
} OrtApi;

_Static_assert(offsetof(OrtApi, SessionOptionsAppendExecutionProvider) == 216 * sizeof(void *), "no slot is missing");
_Static_assert(offsetof(OrtApi, GetTensorShapeElementCount) == 64 * sizeof(void *), "no slot is missing");
_Static_assert(offsetof(OrtApi, SessionEndProfiling) == 110 * sizeof(void *), "no slot is missing");
_Static_assert(offsetof(OrtApi, ReleaseSessionOptions) == 100 * sizeof(void *), "no slot is missing");

typedef struct OrtApiBase {
    const OrtApi *(*GetApi)(uint32_t version);
    const char *(*GetVersionString)(void);
} OrtApiBase;

#endif
