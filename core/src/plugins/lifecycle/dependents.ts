import type { PluginRecord } from './records.js';
import type { LifecycleContext } from './room.js';

type Runs = Pick<LifecycleContext, 'records' | 'services'>;

/** Those that run with a service that the token names now, the last started first. */
export function usersOf({ records, services }: Runs, tokenId: string): readonly PluginRecord[] {
  const provision = services.provision(tokenId);
  if (provision === undefined) return [];
  return lastStartedFirst([...records.values()].filter(({ run }) => run?.injected.get(tokenId) === provision));
}

/** Those that run with a service of this plugin's, directly or through others, the last started first. */
export function dependentRuns(runs: Runs, record: PluginRecord): readonly PluginRecord[] {
  const found = new Set<PluginRecord>();
  const visit = (provider: PluginRecord) => {
    for (const { id } of provider.definition?.provides ?? []) {
      if (runs.services.providerOf(id) !== provider.id) continue;
      for (const user of usersOf(runs, id)) {
        if (user === record || found.has(user)) continue;
        found.add(user);
        visit(user);
      }
    }
  };
  visit(record);
  return lastStartedFirst([...found]);
}

/** Whether what a plugin runs with is no longer what the tokens name: it has to start anew. */
export function isStale(runs: Runs, record: PluginRecord): boolean {
  const { run } = record;
  if (run === undefined) return false;
  return [...run.injected].some(([tokenId, was]) => {
    if (runs.services.provision(tokenId) === was) return false;
    return was !== undefined || !comesFromDependent(runs, record, tokenId);
  });
}

/** An optional service whose provider is built upon this very plugin can never be had: to restart for it would never end. */
function comesFromDependent(runs: Runs, record: PluginRecord, tokenId: string): boolean {
  const provider = runs.services.providerOf(tokenId);
  return provider === record.id || dependentRuns(runs, record).some(({ id }) => id === provider);
}

export function lastStartedFirst(records: readonly PluginRecord[]): readonly PluginRecord[] {
  return [...records].sort((a, b) => (b.run?.sequence ?? 0) - (a.run?.sequence ?? 0));
}
