import { createMemoryDriver, createTestHost } from '@cinnabar/core/testing';
import { Accounts, type Receipt } from '@cinnabar/sdk';
import { expect } from 'chai';
import { receipt } from './receipt.js';

describe('accounts: what is counted', () => {
  const till = async () => {
    const memory = createMemoryDriver();
    /** Number of documents that can be written before the disk is full. */
    let room = Number.POSITIVE_INFINITY;
    const driver = {
      ...memory,
      write: async (...given: Parameters<typeof memory.write>) => {
        room -= 1;
        if (room < 0) throw new Error('the disk is full');
        await memory.write(...given);
      },
    };
    const host = await createTestHost({ plugins: ['accounts'], driver });
    const actor = { userId: host.alice.id, guildId: host.guild.id, channelId: host.general.id };
    const step = (more: Partial<Receipt> = {}) => receipt({ actor, at: host.clock.now(), mind: 'tasks', ...more });
    const asked = async (text: string) => {
      host.you.say(host.general, text);
      await host.settled();
      return host.general.messages.at(-1)?.content ?? '';
    };
    return {
      host,
      accounts: host.resolve(Accounts),
      step,
      asked,
      documents: () => memory.list(['accounts']),
      leaveRoomFor(documents: number) {
        room = documents;
      },
    };
  };

  for (const documents of [0, 1, 2, 3]) {
    it(`once, when recording breaks off after ${documents} of 4 writes and is done again`, async () => {
      const { host, accounts, step, asked, leaveRoomFor } = await till();
      await using _ = host;
      leaveRoomFor(documents);
      const failed = await accounts.record(step()).then(
        () => false,
        () => true,
      );
      expect(failed).to.equal(true);
      leaveRoomFor(Number.POSITIVE_INFINITY);
      await accounts.record(step());
      expect(await asked('!cost guild'))
        .to.contain('1 run, 1,000 tokens')
        .and.contain('$0.012');
      expect(await asked('!cost guild')).to.contain(`Today by channel: <#${host.general.id}> 1,000 tokens`);
      expect(await asked('!cost channel')).to.contain('1 run, 1,000 tokens');
    });
  }

  it('once, when it goes on longer than receipts are kept', async () => {
    const { host, accounts, step, asked } = await till();
    await using _ = host;
    for (let round = 0; round < 4; round++) {
      await accounts.record(step({ id: 'long', calls: round }));
      for (let other = 0; other < 40; other++) await accounts.record(step({ id: `${round}-${other}` }));
    }
    expect(await asked('!cost channel')).to.contain('161 runs, 161,000 tokens');
  });

  it('is deleted when it is too old, also in inactive servers', async () => {
    const { host, accounts, step, documents } = await till();
    await using _ = host;
    await accounts.record(step());
    expect(await documents()).to.have.length(4);
    for (const days of [40, 1]) {
      await host.advance(days * 24 * 60 * 60_000);
      await host.settled();
    }
    expect(await accounts.receipts(host.general.id)).to.deep.equal([]);
    expect(await documents()).to.deep.equal([]);
  });

  it('once, when the same is recorded twice at the same time', async () => {
    const { host, accounts, step, asked } = await till();
    await using _ = host;
    await Promise.all([accounts.record(step()), accounts.record(step())]);
    expect(await asked('!cost channel')).to.contain('1 run, 1,000 tokens');
  });

  it('apart, what two minds or two channels call by the same name', async () => {
    const { host, accounts, step, asked } = await till();
    await using _ = host;
    const elsewhere = { ...step().actor, channelId: '4711' };
    await accounts.record(step());
    await accounts.record(step({ mind: 'chat' }));
    await accounts.record(step({ actor: elsewhere }));
    expect(await asked('!cost guild')).to.contain('3 runs, 3,000 tokens');
  });
});
