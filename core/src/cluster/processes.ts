import type { ClusterStatus, Logger } from '@cinnabar/sdk';
import type { AskOptions, Assignment, ClusterChannel, RequestKind } from './assignment.js';

/** What became of a request to a process. `idle`: it serves no group, and so hears of no request. */
export type ProcessAnswer<T> = { readonly process: string } & (
  | { readonly state: 'answered'; readonly answer: T }
  | { readonly state: 'silent'; readonly error: unknown }
  | { readonly state: 'idle' }
);

/** Asks each process once, however many groups it serves: a request goes to one of them. Never rejects. */
export function askProcesses<B, T>(
  ask: ClusterChannel['ask'],
  { processes, groups }: Pick<ClusterStatus, 'processes' | 'groups'>,
  kind: RequestKind<B, T>,
  body: B,
  options: AskOptions,
): Promise<readonly ProcessAnswer<T>[]> {
  const isServed = (group: number) => groups.some((one) => one.group === group && one.isServed);
  return Promise.all(
    processes.map(async ({ name: process, groups: held }) => {
      // A group that still starts answers later.
      const group = held.find(isServed) ?? held[0];
      if (group === undefined) return { process, state: 'idle' };
      try {
        return { process, state: 'answered', answer: await ask(group, kind, body, options) };
      } catch (error) {
        return { process, state: 'silent', error };
      }
    }),
  );
}

/** Asks the other processes of the cluster; none while the database cannot tell which there are. Never rejects. */
export async function askOtherProcesses<B, T>(
  { channel, partition, status }: Pick<Assignment, 'channel' | 'partition' | 'status'>,
  kind: RequestKind<B, T>,
  body: B,
  options: AskOptions,
  log: Logger,
): Promise<readonly ProcessAnswer<T>[]> {
  try {
    const { groups = [], processes = [] } = (await status()) ?? {};
    const others = processes.filter((one) => !one.groups.includes(partition.group));
    return await askProcesses(channel.ask, { groups, processes: others }, kind, body, options);
  } catch (error) {
    log.info('the processes of the cluster are not known', { error });
    return [];
  }
}
