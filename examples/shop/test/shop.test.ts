import { fileURLToPath } from 'node:url';
import { createTestHost } from '@cinnabar/core/testing';
import { expect } from 'chai';

/** The host builds both plugins from their sources, as it does with installed ones. */
const [shop, points] = ['../..', '../../../points'].map((path) => fileURLToPath(new URL(path, import.meta.url)));

describe('shop', () => {
  it('takes the points that the other plugin keeps', async () => {
    await using host = await createTestHost({ plugins: [shop, points].filter((folder) => folder !== undefined) });
    const say = async (text: string) => {
      host.you.say(host.general, text);
      await host.settled();
      return host.general.messages.at(-1)?.content;
    };
    expect(await say('!buy hat')).to.include('That costs 10 points, and you have 0.');
    await say(`!reward <@${host.you.id}> 30`);
    expect(await say('!buy cake')).to.equal('Here is your cake. You have 5 points left.');
  });
});
