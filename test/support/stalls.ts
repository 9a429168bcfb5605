const STOOD_STILL = /^\S+ warn +host: the event loop stood still for .*\n/gm;

/** Standard error without the warnings about a slow machine, which must not affect a test. */
export const withoutStalls = (stderr: string): string => stderr.replace(STOOD_STILL, '');
