import { createSystemClock, type HostConfig, type HostOptions } from '@cinnabar/core';
import { createMember } from '@cinnabar/core/internal/cluster/member';
import { createMemberMonitoring } from '@cinnabar/core/internal/cluster/monitoring';
import type { Clock, Logger } from '@cinnabar/sdk';
import { recordingLogger } from './logs.js';

interface MemberOptions {
  /** The configuration with a token; the other parameters of a cluster follow. */
  readonly config: HostConfig & { readonly token: string };
  readonly name: string;
  readonly groups: number;
  readonly database: { readonly url: string; readonly schema: string };
  /** The machine's when left out. */
  readonly clock?: Clock;
  readonly host: Omit<HostOptions, 'config' | 'driver' | 'assignment'>;
  readonly log: Logger;
  readonly onUnreachable?: (sentence: string) => void;
}

/** Runs a process of a cluster, like `cinnabar start --cluster`, within this process. */
export function memberOfCluster(options: MemberOptions) {
  const { config, name, groups, database, host, log, onUnreachable, clock = createSystemClock() } = options;
  const { url, schema } = database;
  return createMember({
    config: { ...config, storage: { url, schema, poolSize: 4 }, cluster: { groups, name } },
    host,
    clock,
    log,
    onUnreachable: onUnreachable ?? (() => undefined),
  });
}

/** The Prometheus metrics of a cluster process without hosts. */
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
