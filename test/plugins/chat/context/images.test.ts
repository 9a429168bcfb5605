import { expect } from 'chai';
import { asLines, build, chat, createChannel, picture, said } from './harness.js';

const photo = (name: string, sizeBytes?: number) => said('Alice', name, { attachments: [picture(name, sizeBytes)] });
const shown = (lines: readonly string[]) => lines.flatMap((line) => line.match(/<([^>]+)>/)?.[1] ?? []);

describe('chat context: images', () => {
  it('are the newest within the limit, in their place', async () => {
    const { request, facts } = await build([photo('a'), photo('b'), photo('c')], { config: { maxImages: 2 } });
    expect(asLines(request)).to.deep.equal([
      'Alice: a\n[attachment: a, image/jpeg, 1 KB]',
      'Alice: b <b>',
      'Alice: c <c>',
    ]);
    expect(facts.images).to.equal(2);
  });

  it('are none where the model, the configuration or the file itself says so', async () => {
    const none = async (given: Parameters<typeof build>[1]) => (await build([photo('a')], given)).facts.images === 0;
    expect(await none({ traits: { images: false } })).to.equal(true);
    expect(await none({ config: { includeImages: false } })).to.equal(true);
    expect(await none({ images: { load: async () => undefined } })).to.equal(true);
    expect(await none({})).to.equal(false);
  });

  it('that are not shown change nothing', async () => {
    const channel = createChannel({ config: { maxImages: 0 } });
    await channel.activate(chat(30));
    const { facts } = await channel.activate([...chat(30), photo('a')]);
    expect(facts.expectedMiss).to.equal(undefined);
    expect(facts.expectedReadTokens).to.be.greaterThan(0);
  });

  it('keep to the limits in bytes, each and together', async () => {
    const config = { imageMaxBytes: 5000, imageMaxTotalBytes: 8000 };
    const { request } = await build([photo('a', 1000), photo('b', 5000), photo('c', 6000), photo('d', 3000)], {
      config,
    });
    expect(shown(asLines(request))).to.deep.equal(['b', 'd']);
  });

  it('stay when new ones come, until there are too many: then several go at once', async () => {
    const channel = createChannel({ config: { maxImages: 4 } });
    const messages = [...chat(20), photo('a'), photo('b'), photo('c')];
    const seen: string[] = [];
    for (const name of ['d', 'e', 'f', 'g']) {
      messages.push(photo(name));
      const { request, facts } = await channel.activate(messages);
      seen.push(`${shown(asLines(request)).join('')} ${facts.expectedMiss ?? ''}`.trim());
    }
    expect(seen).to.deep.equal([
      'abcd',
      'bcde the oldest images made room for new ones',
      'cdef the oldest images made room for new ones',
      'defg the oldest images made room for new ones',
    ]);
  });
});
