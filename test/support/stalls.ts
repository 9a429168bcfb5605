const STOOD_STILL = /^\S+ warn +host: the event loop stood still for .*\n/gm;

/** Standard error without what a busy machine makes any bot say, which must not decide a test. */
export const withoutStalls = (stderr: string): string => stderr.replace(STOOD_STILL, '');
