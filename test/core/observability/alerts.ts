import { createHandedNotices, takeNotices } from '@cinnabar/core/internal/cluster/notices';
import { alertsSchema, createAlertQueue } from '@cinnabar/core/internal/observability/owner-notices';
import { createMemoryDriver } from '@cinnabar/core/testing';
import { createManualClock } from '@cinnabar/sdk/testing';
import { formatTexts } from '../../support/languages.js';
import { recordingLogger } from '../../support/logs.js';
import { storageOn } from '../storage/fixture.js';

type Sending = Pick<Parameters<typeof createAlertQueue>[0], 'reachable' | 'send'>;
type Queue = ReturnType<typeof createAlertQueue>;
/** The channel with which the hosts of a cluster forward notices to the host with direct messages. */
export type Channel = Parameters<typeof takeNotices>[1] & Parameters<typeof createHandedNotices>[0]['channel'];

/** The alerts for the owners of a bot, over restarts and in each of its hosts; the test moves the time. */
export function openAlerts() {
  formatTexts();
  const clock = createManualClock();
  const log = recordingLogger();
  const storage = storageOn(createMemoryDriver());
  const parts = (key: string) => ({
    document: () => storage.collection('notices', { scope: 'global', version: 1, schema: alertsSchema }).of(key),
    languages: () => [],
    redact: (text: string) => text,
    clock,
    log,
  });
  return {
    clock,
    /** The queue of a bot that starts with the entries of the previous run. */
    queue: (sending: Sending): Queue => createAlertQueue({ ...sending, ...parts('owners') }),
    /** The queue in the host of the first group, which receives the notices of others. */
    taking: (sending: Sending, channel: Channel): ReturnType<typeof takeNotices> =>
      takeNotices(createAlertQueue({ ...sending, ...parts('owners') }), channel),
    /** The notices of the host of another group, which forwards them. */
    handing: (
      group: number,
      channel: Channel,
      redact: (text: string) => string,
    ): ReturnType<typeof createHandedNotices> =>
      createHandedNotices({ ...parts(`owners@${group}`), channel, group, redact }),
  };
}
