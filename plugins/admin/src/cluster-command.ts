import {
  type ClusterGroup,
  type ClusterProcess,
  plainText,
  type Takeover,
  type TakeoverReason,
  t,
} from '@cinnabar/sdk';
import type { AdminContext } from './context.js';

/** `!cluster`: the processes with their servers, and the latest takeovers. The command line prints the same. */
export function registerCluster({ command, services }: AdminContext): void {
  const { cluster } = services;
  command({
    name: 'cluster',
    description: 'Show the processes that serve the bot together, and what each of them holds',
    access: { tier: 'botOwner' },
    reads: true,
    async run(ctx) {
      const status = await cluster.status();
      if (status === undefined)
        return ctx.reply({ content: t('I am one process, and no cluster: it serves all servers.'), ephemeral: true });
      const { processes, groups, takeovers } = status;
      return ctx.reply({
        content: [
          t('**Cluster** of {groups} groups of servers', { groups: groups.length }),
          ...processes.map(processLine),
          '',
          ...groups.map(groupLine),
          '',
          takeovers.length === 0
            ? t('No group has changed its process in the last day.')
            : t('**Take-overs** of the last day, the latest first'),
          ...takeovers.map(takeoverLine),
        ].join('\n'),
        ephemeral: true,
      });
    },
  });
}

function processLine({ name, version, isDraining, isConnected, groups }: ClusterProcess): string {
  return [
    groups.length === 0
      ? t('• **{name}** ({version}): no group', { name: plainText(name), version })
      : t('• **{name}** ({version}): groups {groups}', { name: plainText(name), version, groups: groups.join(', ') }),
    ...(isDraining ? [t('gives them to the others')] : []),
    ...(isConnected ? [] : [t('does not reach Discord')]),
  ].join(', ');
}

function groupLine({ group, holder, isServed, since, renewedMsAgo, inFlight }: ClusterGroup): string {
  if (holder === undefined) return t('• ⚠️ Group {group}: **not served by any process**', { group });
  const values = {
    group,
    name: plainText(holder),
    since: timestamp(since ?? 0, 'R'),
    age: ((renewedMsAgo ?? 0) / 1_000).toFixed(1),
    count: inFlight,
  };
  return isServed
    ? t(
        '• Group {group}: {name}, taken {since}; lease renewed {age} s ago, {count, plural, one {# command} other {# commands}} under way',
        values,
      )
    : t('• Group {group}: {name}, taken {since}, and starting; lease renewed {age} s ago', values);
}

function takeoverLine({ at, group, from, to, reason }: Takeover): string {
  return t('• {time} group {group}: {from} → {to}: {why}', {
    time: timestamp(at, 'f'),
    group,
    from: from === undefined ? '?' : plainText(from),
    to: plainText(to),
    why: reasonWords(reason),
  });
}

function reasonWords(reason: TakeoverReason): string {
  switch (reason) {
    case 'expired':
      return t('it died, or was cut off from the database');
    case 'drained':
      return t('it stopped, or was drained');
    case 'rebalanced':
      return t('the other one had fewer');
    case 'unreachable':
      return t('it did not reach Discord');
    case 'failed':
      return t('it could not start it');
    case 'released':
      return t('it gave it up');
  }
}

const timestamp = (ms: number, style: 'R' | 'f') => `<t:${Math.floor(ms / 1_000)}:${style}>`;
