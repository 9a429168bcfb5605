import { createTestHost } from '@cinnabar/core/testing';
import { AuditLog, PersonalDataStore } from '@cinnabar/sdk';
import { expect } from 'chai';

const actor = (userId: string) => ({ userId, guildId: '1', channelId: '2' });

describe('the audit of a guild', () => {
  it('keeps what admins did, however often a member is refused', async () => {
    await using host = await createTestHost({ plugins: [] });
    const audit = host.resolve(AuditLog);
    audit.record({ actor: actor('admin'), act: 'ban @alice', outcome: 'done' });
    for (let n = 0; n < 150; n += 1) audit.record({ actor: actor('alice'), act: `unban ${n}`, outcome: 'denied' });
    audit.record({ actor: actor('admin'), act: 'kick @alice', outcome: 'done' });
    const acts = (await audit.recent('1', 300)).map(({ act }) => act);
    expect(acts.slice(0, 2)).to.deep.equal(['kick @alice', 'unban 149']);
    expect(acts).to.include('ban @alice').and.have.length(102);
  });

  it('exports what a member did, and forgets their words and what others wrote about them', async () => {
    await using host = await createTestHost({ plugins: [] });
    const audit = host.resolve(AuditLog);
    audit.record({ actor: actor('77'), act: 'set party name Mine', outcome: 'refused', reason: 'no Mine' });
    audit.record({ actor: actor('88'), act: 'warn <@77> rude words', outcome: 'done' });
    audit.record({ actor: actor('88'), act: 'mydata erase 77 everything', outcome: 'done' });
    audit.record({ actor: actor('88'), act: 'kick <@99> rude words', outcome: 'done' });
    const data = host.resolve(PersonalDataStore);
    expect(JSON.stringify(await data.export('77')))
      .to.include('Mine')
      .and.not.include('rude');
    await data.forget('77');
    expect((await audit.recent('1', 9)).map(({ act, reason }) => [act, reason])).to.deep.equal([
      ['kick <@99> rude words', undefined],
      ['mydata erase 77 …', undefined],
      ['warn <@77> …', undefined],
      ['(deleted with the data of the member)', undefined],
    ]);
  });
});
