import type { Cluster, ClusterStatus, Logger, Metrics, TakeoverReason } from '@cinnabar/sdk';
import { createMetrics } from '../observability/metrics.js';
import { createMonitoringPages, type MonitoringPages } from '../observability/monitoring.js';

interface Dependencies {
  readonly name: string;
  /** Problems of the process that are not problems of one of its hosts. */
  readonly phase: () => 'starting' | 'running' | 'stopping';
  /** The hosts of the groups that it holds. */
  readonly hosts: () => readonly { readonly group: number; readonly monitoring: MonitoringPages }[];
  readonly status: Cluster['status'];
  readonly log: Logger;
}

/** Health and metrics of one process: of all its hosts, and of the cluster. */
interface MemberMonitoring extends MonitoringPages {
  /** Adds a host, whose metrics count from its start when the process has already published some. */
  join(host: MonitoringPages): Promise<void>;
  taken(reason: TakeoverReason): void;
}

export function createMemberMonitoring({ name, phase, hosts, status, log }: Dependencies): MemberMonitoring {
  const metrics = createMetrics(log);
  let known: ClusterStatus | undefined;
  let isOpen = false;
  const takeovers = metrics.host.counter({
    name: 'cluster_takeovers_total',
    help: 'Groups that this process has taken from another one, by reason.',
    labels: ['reason'],
  });
  const pages = createMonitoringPages({
    metrics: {
      async open() {
        isOpen = true;
        await metrics.open();
        for (const { monitoring } of hosts()) await monitoring.open();
      },
      async render() {
        known = await status().catch((error: unknown) => {
          log.debug('how the cluster stands could not be read for the metrics', { error });
          return undefined;
        });
        const own = await metrics.render();
        const all = await Promise.all(hosts().map(({ monitoring }) => monitoring.page('/metrics')));
        return { contentType: own.contentType, body: mergeMetrics([own.body, ...all.map((page) => page?.body ?? '')]) };
      },
    },
    publish: () => publishCluster(metrics.host, name, () => known),
    readiness: {
      async reasons() {
        const state = phase();
        if (state !== 'running') return [state === 'starting' ? 'starting: not in the cluster yet' : state];
        const all = hosts().map(async ({ group, monitoring }) =>
          (await monitoring.reasons()).map((reason) => `group ${group}: ${reason}`),
        );
        return (await Promise.all(all)).flat();
      },
    },
  });
  return {
    ...pages,
    async join(host) {
      if (isOpen) await host.open();
    },
    taken: (reason) => takeovers.add({ reason }),
  };
}

/** The state of the cluster when metrics are read; nothing while the database is unreachable. */
function publishCluster(metrics: Metrics, name: string, status: () => ClusterStatus | undefined): void {
  const own = () => status()?.groups.filter(({ holder }) => holder === name) ?? [];
  metrics.gauge({
    name: 'cluster_leases_held',
    help: 'Groups that this process holds a lease on.',
    read: () => (status() === undefined ? [] : own().length),
  });
  metrics.gauge({
    name: 'cluster_lease_renewed_seconds',
    help: 'How long ago the leases of this process were renewed; they are void after 6 s.',
    labels: ['group'],
    read: () =>
      own().flatMap(({ group, renewedMsAgo }) =>
        renewedMsAgo === undefined ? [] : [[{ group: String(group) }, renewedMsAgo / 1_000] as const],
      ),
  });
  metrics.gauge({
    name: 'cluster_claims_under_way',
    help: 'Commands that this process has claimed and not finished.',
    labels: ['group'],
    read: () => own().map(({ group, inFlight }) => [{ group: String(group) }, inFlight] as const),
  });
  metrics.gauge({
    name: 'cluster_groups',
    help: 'Groups of the cluster: served by a process, or by none. All processes tell the same.',
    labels: ['state'],
    read: () => {
      const groups = status()?.groups;
      if (groups === undefined) return [];
      const served = groups.filter(({ isServed }) => isServed).length;
      return [
        [{ state: 'served' }, served],
        [{ state: 'unserved' }, groups.length - served],
      ];
    },
  });
  metrics.gauge({
    name: 'cluster_processes',
    help: 'Processes of the cluster that live. All of them tell the same.',
    read: () => status()?.processes.length ?? [],
  });
}

/** The lines of one metric. */
interface Family {
  readonly head: string[];
  readonly lines: string[];
}

/** Merges texts that may contain the same metric: all lines of one metric have to be adjacent. https://prometheus.io/docs/instrumenting/exposition_formats/ */
function mergeMetrics(texts: readonly string[]): string {
  const metrics = new Map<string, Family>();
  for (const text of texts) {
    let current: Family = { head: [], lines: [] };
    let isKnown = false;
    for (const line of text.split('\n')) {
      const name = /^# HELP (\S+)/.exec(line)?.[1];
      if (name !== undefined) {
        isKnown = metrics.has(name);
        current = metrics.get(name) ?? { head: [], lines: [] };
        metrics.set(name, current);
      }
      if (!line.startsWith('#')) {
        if (line !== '') current.lines.push(line);
      } else if (!isKnown) current.head.push(line);
    }
  }
  return [...metrics.values()].map(({ head, lines }) => [...head, ...lines, ''].join('\n')).join('\n');
}
