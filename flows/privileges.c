/* privileges.c - see privileges.h. */
#include "privileges.h"

#include <errno.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "message.h"

/* ------------------------------------------------------------------ user and capabilities */

static void become_user(const char *name) {
    errno = 0;
    const struct passwd *const user = getpwnam(name);
    if (user == NULL) die("--user %s: %s", name, errno != 0 ? strerror(errno) : "no such user");
    bool const is_same = getuid() == user->pw_uid && geteuid() == user->pw_uid;
    if (is_same) return;
    if (initgroups(name, user->pw_gid) != 0 || setgid(user->pw_gid) != 0 ||
        setuid(user->pw_uid) != 0)
        die("--user %s: %s", name, strerror(errno));
}

/* From the bounding set first, since that needs a capability itself. Some may not be there, and
 * without them nothing is to be dropped: failures do not matter. */
static void drop_bounding_set(void) {
    for (unsigned long i = 0; prctl(PR_CAPBSET_READ, i, 0, 0, 0) >= 0; i++)
        (void)prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
    (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
}

static void drop_capabilities(void) {
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct   none[_LINUX_CAPABILITY_U32S_3];
    memset(none, 0, sizeof none);
    if (syscall(SYS_capset, &header, none) != 0)
        die("capabilities cannot be dropped: %s", strerror(errno));
}

/* ------------------------------------------------------------------ system calls */

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#define OTHER_CALLS 0x40000000u /* the calls of x32 have this bit */
#elif defined(__aarch64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#define OTHER_CALLS 0x80000000u
#endif

#ifdef OWN_ARCHITECTURE

static const unsigned forbidden[] = {
    SYS_execve,      SYS_execveat,        SYS_ptrace,      SYS_process_vm_readv,
    SYS_socket,      SYS_socketpair,      SYS_connect,     SYS_bind,
    SYS_listen,      SYS_accept,          SYS_accept4,     SYS_process_vm_writev,
    SYS_bpf,         SYS_perf_event_open, SYS_userfaultfd, SYS_open_by_handle_at,
    SYS_mount,       SYS_umount2,         SYS_pivot_root,  SYS_chroot,
    SYS_setns,       SYS_unshare,         SYS_init_module, SYS_finit_module,
    SYS_kexec_load,  SYS_delete_module,   SYS_add_key,     SYS_keyctl,
    SYS_request_key, SYS_reboot,          SYS_swapon,      SYS_swapoff,
};

#define N_FORBIDDEN (sizeof forbidden / sizeof forbidden[0])
#define HEAD 5 /* instructions before the list */

/* A list of what is forbidden, not of what is allowed: C libraries use other calls with every
 * version, and a capture must not end because of that. A forbidden call fails with EPERM. */
static void forbid_calls(void) {
    struct sock_filter code[HEAD + N_FORBIDDEN + 2] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, OTHER_CALLS, N_FORBIDDEN + 1, 0),
    };
    for (unsigned i = 0; i < N_FORBIDDEN; i++) {
        unsigned char const to_refusal = (unsigned char)(N_FORBIDDEN - i);
        code[HEAD + i] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, forbidden[i], to_refusal, 0);
    }
    code[HEAD + N_FORBIDDEN] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    code[HEAD + N_FORBIDDEN + 1] =
        (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    struct sock_fprog const program = { .len = sizeof code / sizeof code[0], .filter = code };
    /* Kernels without seccomp refuse. The capabilities are gone in any case. */
    (void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

#else

static void forbid_calls(void) {
}

#endif

void privileges_drop(const char *user) {
    drop_bounding_set();
    if (user != NULL) become_user(user);
    drop_capabilities();
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    forbid_calls();
}
