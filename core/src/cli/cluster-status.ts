import { type ClusterStatus, type TakeoverReason, UserError } from '@cinnabar/sdk';
import { askToDrain } from '../cluster/leases.js';
import { readStatus } from '../cluster/status.js';
import type { HostConfig } from '../config/host-config.js';
import { createConnections } from '../storage/drivers/postgres/connection.js';
import { schemaState } from '../storage/drivers/postgres/migrations.js';
import { harmless } from './harmless.js';

const USAGE = 'It is "cluster status" or "cluster drain NAME".';

/**
 * `cinnabar cluster status`: prints which process serves which groups. `cinnabar cluster drain NAME`: requests that a process gives its groups to the others.
 * Both work while the cluster runs.
 * @returns the exit code: 1 when a group is not served
 * @throws UserError; DatabaseError
 */
export async function runCluster(
  operands: readonly string[],
  { storage }: Pick<HostConfig, 'storage'>,
  { stdout }: { readonly stdout: Pick<NodeJS.WritableStream, 'write'> },
): Promise<number> {
  const [action, name, ...others] = operands;
  const isStatus = action === 'status' && name === undefined;
  if (others.length > 0 || (!isStatus && (action !== 'drain' || name === undefined))) throw new UserError(USAGE);
  if (storage === undefined)
    throw new UserError('There is no database configured that a cluster could share: set DATABASE_URL.');
  const { schema } = storage;
  const { query, close } = createConnections({ ...storage, poolSize: 1 });
  try {
    if ((await schemaState(query, schema)).version === 0) throw new UserError('No bot has used this database yet.');
    if (name === undefined) return report(await readStatus(query, schema), stdout);
    if ((await askToDrain(query, schema, name)) === 0)
      throw new UserError(`No process that is called "${harmless(name)}" has been heard of in the last seconds.`);
    stdout.write(`${name} gives its groups to the others, and takes none until it starts anew.\n`);
    return 0;
  } finally {
    await close();
  }
}

const REASONS: Readonly<Record<TakeoverReason, string>> = {
  expired: 'it died, or was cut off from the database',
  drained: 'it stopped, or was drained',
  rebalanced: 'the other one had fewer',
  unreachable: 'it did not reach Discord',
  failed: 'it could not start it',
  released: 'it gave it up',
};

function report({ processes, groups, takeovers }: ClusterStatus, stdout: Pick<NodeJS.WritableStream, 'write'>): number {
  if (groups.length === 0) throw new UserError('No cluster has used this database yet.');
  const say = (line: string) => stdout.write(`${line}\n`);
  for (const { name, version, isDraining, isConnected, groups: held } of processes) {
    const notes = [version, isDraining ? 'drains' : '', isConnected ? '' : 'does not reach Discord'].filter(Boolean);
    say(`${harmless(name)} (${notes.join(', ')}): groups ${held.join(', ') || 'none'}`);
  }
  const free = groups.filter(({ holder }) => holder === undefined);
  for (const { group, holder, isServed, since = 0, renewedMsAgo = 0, inFlight } of groups) {
    if (holder === undefined) continue;
    const state = isServed ? `commands under way: ${inFlight}` : 'starting';
    const renewed = `renewed ${(renewedMsAgo / 1_000).toFixed(1)} s ago`;
    say(`  group ${group}: ${harmless(holder)} since ${isoTime(since)}, ${renewed}, ${state}`);
  }
  if (takeovers.length > 0) say('Take-overs of the last day, the latest first:');
  for (const { at, group, from = '?', to, reason } of takeovers)
    say(`  ${isoTime(at)} group ${group}: ${harmless(from)} -> ${harmless(to)}: ${REASONS[reason]}`);
  if (free.length === 0) return 0;
  say(`Served by nobody: groups ${free.map(({ group }) => group).join(', ')}`);
  return 1;
}

const isoTime = (ms: number) => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
