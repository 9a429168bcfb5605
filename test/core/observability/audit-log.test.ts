import { createRedactor } from '@cinnabar/core/internal/observability/log-entry';
import { auditSchema, createAuditLog } from '@cinnabar/core/internal/observability/logs';
import { createStorage } from '@cinnabar/core/internal/storage/storage';
import { createManualClock, createMemoryDriver } from '@cinnabar/core/testing';
import { expect } from 'chai';
import { recordingLogger } from '../../support/logs.js';

const actor = (userId: string) => ({ userId, guildId: '1', channelId: '2' });

function createAudit() {
  const log = recordingLogger();
  const storage = createStorage({ driver: createMemoryDriver(), log });
  const documents = storage.collection('audit', { scope: 'guild', version: 1, schema: auditSchema });
  const files = { audit: () => undefined, redactor: createRedactor() };
  return { storage, audit: createAuditLog(documents, files, createManualClock(), log) };
}

describe('the audit of a guild', () => {
  it('keeps what admins did, however often a member is refused', async () => {
    const { storage, audit } = createAudit();
    audit.record({ actor: actor('admin'), act: 'ban @alice', outcome: 'done' });
    for (let n = 0; n < 400; n += 1) audit.record({ actor: actor('alice'), act: `unban ${n}`, outcome: 'denied' });
    audit.record({ actor: actor('admin'), act: 'kick @alice', outcome: 'done' });
    await storage.flush();
    const acts = (await audit.recent('1', 300)).map(({ act }) => act);
    expect(acts.slice(0, 2)).to.deep.equal(['kick @alice', 'unban 399']);
    expect(acts).to.include('ban @alice').and.have.length(102);
  });

  it('exports what a member did, and forgets their words and what others wrote about them', async () => {
    const { storage, audit } = createAudit();
    audit.record({ actor: actor('77'), act: 'set party name Mine', outcome: 'refused', reason: 'no Mine' });
    audit.record({ actor: actor('88'), act: 'warn <@77> rude words', outcome: 'done' });
    audit.record({ actor: actor('88'), act: 'mydata erase 77 everything', outcome: 'done' });
    audit.record({ actor: actor('88'), act: 'kick <@99> rude words', outcome: 'done' });
    await storage.flush();
    expect(JSON.stringify(await audit.personalData.export('77')))
      .to.include('Mine')
      .and.not.include('rude');
    await audit.personalData.forget('77');
    expect((await audit.recent('1', 9)).map(({ act, reason }) => [act, reason])).to.deep.equal([
      ['kick <@99> rude words', undefined],
      ['mydata erase 77 …', undefined],
      ['warn <@77> …', undefined],
      ['(deleted with the data of the member)', undefined],
    ]);
  });
});
