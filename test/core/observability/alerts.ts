import { createHandedNotices, takeNotices } from '@cinnabar/core/internal/cluster/notices';
import { alertsSchema, createAlertQueue } from '@cinnabar/core/internal/observability/owner-notices';
import { createMemoryDriver } from '@cinnabar/core/testing';
import { createManualClock } from '@cinnabar/sdk/testing';
import { formatTexts } from '../../support/languages.js';
import { recordingLogger } from '../../support/logs.js';
import { storageOn } from '../storage/fixture.js';

type Sending = Pick<Parameters<typeof createAlertQueue>[0], 'reachable' | 'send'>;
type Queue = ReturnType<typeof createAlertQueue>;
/** Through which the hosts of a cluster hand notices to the one that has direct messages. */
export type Channel = Parameters<typeof takeNotices>[1] & Parameters<typeof createHandedNotices>[0]['channel'];

/** What waits to be told to the owners of a bot, over restarts and in each of its hosts; time is moved by hand. */
export function openAlerts() {
  formatTexts();
  const clock = createManualClock();
  const log = recordingLogger();
  const storage = storageOn(createMemoryDriver());
  const parts = (key: string) => ({
    document: () => storage.collection('notices', { scope: 'global', version: 1, schema: alertsSchema }).of(key),
    languages: () => [],
    clock,
    log,
  });
  return {
    clock,
    /** The queue of a bot that starts with what the one before has left. */
    queue: (sending: Sending): Queue => createAlertQueue({ ...sending, ...parts('owners') }),
    /** That queue in the host of the first group, which takes what others hand over. */
    taking: (sending: Sending, channel: Channel): ReturnType<typeof takeNotices> =>
      takeNotices(createAlertQueue({ ...sending, ...parts('owners') }), channel),
    /** The notices of the host of another group, which hands them over. */
    handing: (
      group: number,
      channel: Channel,
      redact: (text: string) => string,
    ): ReturnType<typeof createHandedNotices> =>
      createHandedNotices({ channel, group, redact, ...parts(`owners@${group}`) }),
  };
}
