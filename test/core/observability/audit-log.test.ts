import { createRedactor } from '@cinnabar/core/internal/observability/log-entry';
import { auditSchema, createAuditLog } from '@cinnabar/core/internal/observability/logs';
import { createMemoryDriver } from '@cinnabar/core/internal/storage/drivers/memory';
import { createStorage } from '@cinnabar/core/internal/storage/storage';
import { createManualClock } from '@cinnabar/core/testing';
import { expect } from 'chai';
import { recordingLogger } from '../../support/logs.js';

describe('the audit of a guild', () => {
  it('keeps what admins did, however often a member is refused', async () => {
    const log = recordingLogger();
    const storage = createStorage({ driver: createMemoryDriver(), log });
    const documents = storage.collection('audit', { scope: 'guild', version: 1, schema: auditSchema });
    const audit = createAuditLog(
      documents,
      { audit: () => undefined, redactor: createRedactor() },
      createManualClock(),
      log,
    );
    const actor = (userId: string) => ({ userId, guildId: '1', channelId: '2' });
    audit.record({ actor: actor('admin'), act: 'ban @alice', outcome: 'done' });
    for (let n = 0; n < 400; n += 1) audit.record({ actor: actor('alice'), act: `unban ${n}`, outcome: 'denied' });
    audit.record({ actor: actor('admin'), act: 'kick @alice', outcome: 'done' });
    await storage.flush();
    const acts = (await audit.recent('1', 300)).map(({ act }) => act);
    expect(acts.slice(0, 2)).to.deep.equal(['kick @alice', 'unban 399']);
    expect(acts).to.include('ban @alice').and.have.length(102);
  });
});
