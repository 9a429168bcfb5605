import { createTestHost } from '@cinnabar/core/testing';
import { definePlugin, PersonalDataStore, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import plugin from '../src/index.js';

/** The collection as version 1 declared it. */
const before = definePlugin({
  manifest: { id: 'starboard', version: '0.0.1', description: 'Before the migration' },
  collections: {
    starred: {
      scope: 'message',
      version: 1,
      schema: z.object({ author: z.string(), stars: z.number() }),
      personal: { by: 'author' },
    },
  },
  setup({ command, collections }) {
    command({
      name: 'save',
      description: 'Saves a document',
      run: ({ user }) => collections.starred.of('1').set({ author: user.id, stars: 4 }),
    });
  },
});

describe('starboard', () => {
  it('shows a message once when it has enough stars', async () => {
    await using host = await createTestHost({ plugins: ['admin', plugin] });
    const board = host.guild.createChannel({ name: 'starboard' });
    host.you.say(host.general, `!set starboard channel <#${board.id}>`);
    host.you.say(host.general, '!set starboard stars 2');
    await host.settled();
    const message = host.alice.say(host.general, 'I fixed it.');
    for (const member of [host.alice, host.bob, host.you]) {
      member.react(message, '⭐');
      await host.settled();
    }
    expect(board.messages.map(({ content }) => content.split('\n')[1])).to.deep.equal(['I fixed it.']);
  });

  it('keeps what the first version saved', async () => {
    await using first = await createTestHost({ plugins: [before] });
    first.you.say(first.general, '!save');
    await first.settled();
    await first.stop();
    await using host = await createTestHost({ plugins: [plugin], world: first, dataDir: first.dataDir });
    const kept = await host.resolve(PersonalDataStore).export(host.you.id);
    expect(JSON.stringify(kept)).to.include(`"authorId":"${host.you.id}","stars":4`);
  });
});
