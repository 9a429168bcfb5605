import { UserError } from '@cinnabar/sdk';
import type { ClusterView } from '../cluster/balance.js';
import { askToDrain, readView } from '../cluster/leases.js';
import type { HostConfig } from '../config/host-config.js';
import { createConnections } from '../storage/drivers/postgres/connection.js';
import { schemaState } from '../storage/drivers/postgres/migrations.js';
import { harmless } from './harmless.js';

const USAGE = 'It is "cluster status" or "cluster drain NAME".';

/**
 * `cinnabar cluster status`: which process serves which groups. `cinnabar cluster drain NAME`: has a process give its groups to the others. Both while
 * the cluster runs.
 * @returns the exit code: 1 where a group is served by nobody
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
    if (name === undefined) return report(await readView(query, schema), stdout);
    if ((await askToDrain(query, schema, name)) === 0)
      throw new UserError(`No process that is called "${harmless(name)}" has been heard of in the last seconds.`);
    stdout.write(`${name} gives its groups to the others, and takes none until it starts anew.\n`);
    return 0;
  } finally {
    await close();
  }
}

function report({ members, leases }: ClusterView, stdout: Pick<NodeJS.WritableStream, 'write'>): number {
  if (leases.length === 0) throw new UserError('No cluster has used this database yet.');
  const groupsOf = (is: (lease: ClusterView['leases'][number]) => boolean) => {
    const groups = leases.filter(is).map(({ group }) => group);
    return groups.length === 0 ? 'none' : groups.sort((one, other) => one - other).join(', ');
  };
  for (const { id, name, version, isAlive, isDraining, isConnected } of members) {
    if (!isAlive) continue;
    const notes = [version, isDraining ? 'drains' : '', isConnected ? '' : 'does not reach Discord'].filter(Boolean);
    const starting = leases.filter(({ holder, isFree, isReady }) => holder === id && !isFree && !isReady).length;
    const groups = groupsOf(({ holder, isFree }) => holder === id && !isFree);
    stdout.write(
      `${harmless(name)} (${notes.join(', ')}): groups ${groups}${starting === 0 ? '' : `, ${starting} of them starting`}\n`,
    );
  }
  const nobodys = groupsOf(({ holder, isFree }) => isFree || holder === undefined);
  if (nobodys === 'none') return 0;
  stdout.write(`Served by nobody: groups ${nobodys}\n`);
  return 1;
}
