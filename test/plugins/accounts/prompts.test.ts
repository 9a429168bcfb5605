import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { callTool, hang, type ModelStep, say, scriptedLlm } from '@cinnabar/local-models';
import { Accounts, definePlugin, Llm, PersonalDataStore, SettingsCatalog, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { createShelf, letLook } from '../chat/harness.js';
import { openBrowser } from '../web/browser.js';

const BEARER = 'cinnabar_mcp_abcdefghijklmnopqrstuvwxyz';
const PICTURE = Buffer.alloc(3_000, 7).toString('base64');
const HOUR_MS = 60 * 60_000;

/** A responder apart from `chat`, which sends a picture to its model. */
const painter = definePlugin({
  manifest: { id: 'painter', version: '1.0.0', description: 'Looks at pictures' },
  inject: { llm: Llm },
  setup({ responder, services: { llm } }) {
    responder({
      name: 'painter',
      description: 'Looks at pictures',
      async respond(turn) {
        const source = { type: 'base64', mediaType: 'image/png', data: PICTURE } as const;
        const content = [{ type: 'image', source } as const, { type: 'text', text: turn.text } as const];
        const { content: said } = await llm.complete({
          charge: { actor: turn.actor, responder: 'painter', trigger: 'I was shown something', work: turn.id },
          self: 'Painter',
          system: `Paint. ${BEARER}`,
          messages: [{ participant: 'guest', content }],
        });
        await llm.finishWork({ actor: turn.actor, responder: 'painter', trigger: 'x', work: turn.id });
        await turn.reply(said.map((block) => (block.type === 'text' ? block.text : '')).join(''));
      },
    });
  },
});

const ON = { accounts: { keepPrompts: true } };
const rowsOf = z.object({
  view: z.object({
    blocks: z.array(
      z.looseObject({
        title: z.string().optional(),
        rows: z
          .array(z.object({ link: z.object({ page: z.string(), query: z.record(z.string(), z.string()) }).optional() }))
          .optional(),
      }),
    ),
  }),
});

async function start(steps: readonly ModelStep[], settings: Record<string, Record<string, unknown>> = ON) {
  const { plugin: shelf } = createShelf();
  const llm = scriptedLlm(steps);
  const plugins = ['accounts', 'admin', 'ai', 'chat', 'confirm', 'web', shelf, painter, llm];
  const host = await createTestHost({ plugins, settings, env: { CINNABAR_WEB: '0' }, printErrors: false });
  const { alice, general, guild } = host;
  const ask = async (text: string, user: TestHost['alice'] = alice) => {
    user.say(general, `!ai ${text}`);
    await host.settled();
  };
  const receipts = () => host.resolve(Accounts).receipts(general.id);
  const browserOf = async (user: TestHost['alice']) => {
    const browser = openBrowser(host);
    await browser.signIn(user.id);
    const open = (page: string, query: Readonly<Record<string, string>>) =>
      browser.get(`/api/pages/accounts/${page}?${new URLSearchParams({ guild: guild.id, ...query })}`);
    /** The page of the latest receipt. */
    const answer = async () => {
      const [receipt] = await receipts();
      if (receipt === undefined) throw new Error('There is no receipt.');
      return open('answer', { channel: general.id, mind: receipt.mind, id: receipt.id });
    };
    /** The links of the receipt to its requests. */
    const links = async () => {
      const { blocks } = rowsOf.parse((await answer()).body).view;
      const { rows = [] } = blocks.find(({ title }) => title === 'What the model was told') ?? {};
      return rows.flatMap(({ link }) => link ?? []);
    };
    const prompts = async () => {
      const shown: string[] = [];
      for (const { query } of await links()) shown.push(JSON.stringify((await open('prompt', query)).body));
      return shown;
    };
    return { open, answer, links, prompts };
  };
  const set = (key: string, value: string) =>
    host
      .resolve(SettingsCatalog)
      .set('accounts', key, value, { userId: host.you.id, guildId: guild.id, channelId: general.id });
  return { host, llm, ask, set, browserOf };
}

describe('accounts: what models were told', () => {
  it('is kept nowhere until the owner of the bot wants it', async () => {
    const { host, ask, browserOf } = await start([say('Hello!')], {});
    await using _ = host;
    await ask('I like xylophones');
    const { answer, links } = await browserOf(host.you);
    expect(JSON.stringify((await answer()).body)).to.include('set accounts keepPrompts true');
    expect(await links()).to.deep.equal([]);
  });

  it('stands whole with the receipt, request by request, without secrets', async () => {
    const { host, ask, browserOf } = await start([callTool('look', { shelf: 'the top' }), say('A book.')]);
    await using _ = host;
    await letLook(host);
    host.bob.say(host.general, `It rains. My bearer is ${BEARER}.`);
    await ask('What is on the shelf?');
    const { prompts } = await browserOf(host.you);
    const [first, second] = await prompts();
    expect(first)
      .to.include('You are Cinnabar')
      .and.include('It rains. My bearer is [redacted].')
      .and.include('What is on the shelf?')
      .and.include('look')
      .and.include('scripted/scripted')
      .and.include('maxTokens');
    expect(first, 'the tool has not run yet').to.not.include('On the top: a book');
    expect(second).to.include('You are Cinnabar').and.include('It rains.').and.include('On the top: a book');
    expect(`${first}${second}`).to.not.include(BEARER);
  });

  it('is kept of every mind that asks a model, with placeholders for pictures', async () => {
    const { host, ask, browserOf } = await start([say('Blue.')]);
    await using _ = host;
    host.you.say(host.general, '!ai use painter');
    await host.settled();
    await ask('Which colour?');
    const { prompts } = await browserOf(host.you);
    const [only = '', ...others] = await prompts();
    expect(others).to.deep.equal([]);
    expect(only)
      .to.include('Paint. [redacted]')
      .and.include('Which colour?')
      .and.include('image/png, 3000 bytes')
      .and.not.include(PICTURE.slice(0, 40));
  });

  it('is only for the owner of the bot, for every receipt and every rule', async () => {
    const { host, ask, browserOf } = await start([say('Hello!')]);
    await using _ = host;
    const { discord, guild, general } = host;
    const chief = discord.createUser({ name: 'chief' });
    guild.join(chief, { roles: [guild.createRole({ name: 'Chiefs', permissions: ['Administrator'] })] });
    await ask('I like xylophones');
    host.you.say(general, `!access allow plugin:accounts <@${chief.id}>`);
    await host.settled();
    const [link] = await (await browserOf(host.you)).links();
    for (const user of [chief, host.alice]) {
      const { open, answer, links } = await browserOf(user);
      const receipt = await answer();
      expect(receipt.status).to.equal(200);
      expect(await links()).to.deep.equal([]);
      expect(JSON.stringify(receipt.body)).to.not.include('xylophones').and.not.include('What the model was told');
      expect((await open('prompt', link?.query ?? {})).status).to.equal(403);
    }
  });

  it('goes when it is switched off, and does not come back', async () => {
    const { host, ask, set, browserOf } = await start([say('Hello!')]);
    await using _ = host;
    await ask('I like xylophones');
    const { links } = await browserOf(host.you);
    expect(await links()).to.have.length(1);
    await set('keepPrompts', 'false');
    await set('keepPrompts', 'true');
    expect(await links()).to.deep.equal([]);
  });

  it('goes after some hours, and when others have taken its place', async () => {
    const { host, ask, set, browserOf } = await start([say('One.'), say('Two.'), say('Three.')]);
    await using _ = host;
    const { links } = await browserOf(host.you);
    await set('promptTurns', '1');
    await ask('The first');
    const first = await (await browserOf(host.you)).links();
    await ask('The second');
    expect(await links()).to.have.length(1);
    const { open } = await browserOf(host.you);
    expect((await open('prompt', first[0]?.query ?? {})).status, 'the first has gone').to.equal(422);
    await host.advance(25 * HOUR_MS);
    expect(await links(), 'a day later').to.deep.equal([]);
    await set('promptHours', '720');
    expect(await links(), 'it is not only hidden').to.deep.equal([]);
  });

  it('is deleted with the data of a member in it, although another member made the request, also while it runs', async () => {
    const steps = [say('Hello!'), hang(callTool('look', { shelf: 'x' })), say('Done.')];
    const { host, llm, ask, browserOf } = await start(steps);
    await using _ = host;
    await letLook(host);
    host.bob.say(host.general, 'I like xylophones');
    await ask('Hello');
    const store = host.resolve(PersonalDataStore);
    const { prompts } = await browserOf(host.you);
    expect((await prompts()).join()).to.include('xylophones');
    const exported = JSON.stringify((await store.export(host.alice.id)).accounts);
    expect(exported).to.include('"prompts"').and.include('I was asked by command').and.not.include('xylophones');
    host.alice.say(host.general, '!ai Look at it');
    await llm.hanging();
    await store.forget(host.bob.id);
    const left = await prompts();
    llm.release();
    await host.settled();
    expect(llm.requests, 'it has gone on').to.have.length(3);
    expect([left, await prompts()], 'before it has gone on, and after').to.deep.equal([[], []]);
  });
});
