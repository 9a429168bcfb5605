import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { say, scriptedLlm } from '@cinnabar/local-models';
import { z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { openBrowser } from '../web/browser.js';

const pageOf = z.object({
  view: z.object({
    blocks: z.array(z.looseObject({ rows: z.array(z.object({ cells: z.array(z.unknown()) })).optional() })),
  }),
});

async function start() {
  const llm = scriptedLlm(() => say('Fine.'));
  const plugins = ['accounts', 'admin', 'ai', 'chat', 'web', llm];
  const host = await createTestHost({ plugins, env: { CINNABAR_WEB: '0' }, printErrors: false });
  const open = async (user: TestHost['alice'], channelId: string) => {
    const browser = openBrowser(host);
    await browser.signIn(user.id);
    return browser.get(`/api/pages/chat/context?guild=${host.guild.id}&channel=${channelId}`);
  };
  /** Each part with the expected state of the cache, and the lifetime of the breakpoint at its end. */
  const parts = async () => {
    const { blocks } = pageOf.parse((await open(host.you, host.general.id)).body).view;
    const words = z.union([z.string(), z.object({ text: z.string() }).transform(({ text }) => text)]);
    const cell = z.tuple([
      words,
      z.object({ measure: z.number() }),
      z.object({ badge: z.string() }),
      z.string().nullable(),
    ]);
    return blocks
      .flatMap(({ rows = [] }) => rows)
      .map(({ cells }) => {
        const [name, , { badge }, breakpoint] = cell.parse(cells);
        return [name, badge, breakpoint];
      });
  };
  return { host, llm, open, parts };
}

describe('chat: the page of a channel\u2019s context', () => {
  it('has the parts of the next request with their sizes, and which of them come from the cache', async () => {
    const { host, llm, parts, open } = await start();
    await using _ = host;
    const long = 'It rains in the valley and the river rises, so nobody goes out today. '.repeat(25);
    for (const user of [host.alice, host.bob, host.alice, host.bob]) user.say(host.general, long);
    host.you.say(host.general, '!ai Well?');
    await host.settled();
    expect(llm.requests).to.have.length(1);
    host.alice.say(host.general, `And then? ${long}`);
    await host.settled();
    const found = await parts();
    const states = found.map(([, badge]) => badge);
    expect(states[0], 'what stands before is held').to.equal('from the cache');
    expect(states).to.include('into the cache');
    expect(states.lastIndexOf('from the cache'), 'the cached part is a prefix').to.be.below(
      states.indexOf('into the cache'),
    );
    expect(found.findLast(([, badge]) => badge === 'from the cache')?.[2], 'it ends at a breakpoint').to.be.a('string');
    const { body } = await open(host.you, host.general.id);
    expect(JSON.stringify(body)).to.not.include('It rains');
    expect(llm.requests, 'nothing is asked of the model').to.have.length(1);
    await host.advance(2 * 60 * 60_000);
    expect(
      (await parts()).map(([, badge]) => badge),
      'hours later',
    ).to.not.include('from the cache');
  });

  it('is for admins, and only of channels that they can read', async () => {
    const { host, open } = await start();
    await using _ = host;
    const { discord, guild } = host;
    const chief = discord.createUser({ name: 'chief' });
    guild.join(chief, { roles: [guild.createRole({ name: 'Chiefs', permissions: ['ManageGuild'] })] });
    const office = guild.createChannel({ name: 'office', overwrites: [{ for: chief, deny: ['ViewChannel'] }] });
    await host.settled();
    expect((await open(host.alice, host.general.id)).status).to.equal(403);
    expect((await open(chief, host.general.id)).status).to.equal(200);
    expect((await open(chief, office.id)).status).to.equal(422);
  });
});
