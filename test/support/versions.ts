import { createVersions } from '@cinnabar/core/internal/plugins/check/trial-host';

/** Counts the versions of plugins that are still in memory. `collectGarbage` is Node's `gc`. */
export const watchVersions = (collectGarbage: () => void) => createVersions(collectGarbage);
export type WatchedVersions = ReturnType<typeof watchVersions>;
