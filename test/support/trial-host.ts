import { createVersions, startTrialHost } from '@cinnabar/core/internal/plugins/check/trial-host';

/** The real host on a local Discord with the plugins of folders, built into the cache of all tests. Its data folder is also its root. */
export function startTrial(dataDir: string, buildCacheDir: string, pluginFolders: readonly string[]) {
  return startTrialHost({
    dataDir,
    buildCacheDir: process.env.BUILD_CACHE_PATH ?? buildCacheDir,
    root: dataDir,
    pluginFolders,
  });
}

/** Counts the versions of plugins that are still in memory. `collectGarbage` is Node's `gc`. */
export const watchVersions = (collectGarbage: () => void) => createVersions(collectGarbage);
export type WatchedVersions = ReturnType<typeof watchVersions>;
