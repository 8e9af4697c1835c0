/* SPDX-License-Identifier: Apache-2.0 */
/* load_model LIBRARY MODEL: opens a model with the loader that was exported beside it, and prints how many inputs the
 * session has. Exit status 1 and the message of ONNX Runtime if it cannot. */
#include <onnxruntime_c_api.h>

#include <dlfcn.h>
#include <stdio.h>

OrtStatus *berth_load(const OrtApi *ort, const OrtEnv *env, const ORTCHAR_T *model, OrtSession **session);

int main(int argc, char **argv) {
    void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
    const OrtApiBase *(*get_base)(void) = NULL;
    if (library) *(void **)&get_base = dlsym(library, "OrtGetApiBase");
    if (!get_base) return fprintf(stderr, "%s\n", argc == 3 ? dlerror() : "load_model LIBRARY MODEL"), 2;
    const OrtApi *ort = get_base()->GetApi(25);
    OrtEnv *env = NULL;
    OrtSession *session = NULL;
    size_t n = 0;
    OrtStatus *status = ort->CreateEnv(3, "test", &env);
    if (!status) status = berth_load(ort, env, argv[2], &session);
    if (!status) status = ort->SessionGetInputCount(session, &n);
    if (status)
        fprintf(stderr, "%s\n", ort->GetErrorMessage(status));
    else
        printf("inputs %zu\n", n);
    int failed = status != NULL;
    if (status) ort->ReleaseStatus(status);
    if (session) ort->ReleaseSession(session);
    if (env) ort->ReleaseEnv(env);
    return failed;
}
