import { createSystemClock, type HostConfig, type HostOptions } from '@cinnabar/core';
import { createMember } from '@cinnabar/core/internal/cluster/member';
import { createMemberMonitoring } from '@cinnabar/core/internal/cluster/monitoring';
import type { Logger } from '@cinnabar/sdk';
import { recordingLogger } from './logs.js';

interface MemberOptions {
  /** With its token; the rest of what a cluster needs is here. */
  readonly config: HostConfig & { readonly token: string };
  readonly name: string;
  readonly groups: number;
  readonly database: { readonly url: string; readonly schema: string };
  readonly host: Omit<HostOptions, 'config' | 'driver' | 'assignment'>;
  readonly log: Logger;
  readonly onUnreachable?: (sentence: string) => void;
}

/** A process of a cluster, as `cinnabar start --cluster` runs one, within this process. */
export function memberOfCluster({ config, name, groups, database, host, log, onUnreachable }: MemberOptions) {
  const { url, schema } = database;
  return createMember({
    config: { ...config, storage: { url, schema, poolSize: 4 }, cluster: { groups, name } },
    host,
    clock: createSystemClock(),
    log,
    onUnreachable: onUnreachable ?? (() => undefined),
  });
}

/** What a process of a cluster publishes for Prometheus beside its hosts, where it has none. */
export async function metricsOfMember(): Promise<string> {
  const monitoring = createMemberMonitoring({
    name: 'mars',
    phase: () => 'running',
    hosts: () => [],
    status: async () => ({ processes: [], groups: [], takeovers: [] }),
    log: recordingLogger(),
  });
  await monitoring.open();
  return (await monitoring.page('/metrics'))?.body ?? '';
}
