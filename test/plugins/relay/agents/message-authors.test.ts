import { posts as collection, createMessageAuthors } from '@cinnabar/plugin-relay/dist/agents/message-authors.js';
import { expect } from 'chai';
import { SnowflakeUtil } from 'discord.js';
import { memoryStorage } from '../../../core/storage/fixture.js';

describe('relay: what agents have written', () => {
  it('is known by channel, agent and time', async () => {
    const { collections } = memoryStorage().open({ id: 'relay', collections: { posts: collection } });
    const posts = createMessageAuthors(collections.posts);
    const at = Date.UTC(2026, 0, 2);
    await posts.note('10', 'aurora', [SnowflakeUtil.generate({ timestamp: at }).toString()]);
    expect(await posts.hasWritten('10', 'aurora', at)).to.equal(true);
    expect(await posts.hasWritten('10', 'aurora', at + 1)).to.equal(false);
    expect(await posts.hasWritten('10', 'scout', at)).to.equal(false);
    expect(await posts.hasWritten('11', 'aurora', at)).to.equal(false);
  });
});
