import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalUser } from '@cinnabar/local-discord';
import { say as answerWith, startOpenAiStandIn } from '@cinnabar/local-models';
import { Accounts, definePlugin, Tools, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import fc from 'fast-check';
import { receipt } from '../accounts/receipt.js';

const vault = definePlugin({
  manifest: { id: 'vault', version: '1.0.0', description: 'Keeps things' },
  setup({ command, tool }) {
    const open = { name: 'open', description: 'Open it', access: { tier: 'mod' } } as const;
    command({ ...open, cooldown: { uses: 1, perMs: 600_000 }, run: (ctx) => ctx.reply('Open') });
    command({ name: 'peek', description: 'Look', access: { bot: ['AttachFiles'] }, run: (ctx) => ctx.reply('Gold') });
    command({ name: 'burn', description: 'Burn', access: { member: ['KickMembers'] }, run: (ctx) => ctx.reply('Ash') });
    tool({ name: 'count_gold', description: 'Count', input: z.object({}), risk: 'read', run: () => '3' });
  },
});

/** An obstacle for a member's command, tool or question. */
interface Obstacle {
  readonly title: string;
  readonly what: string;
  put(host: TestHost): unknown;
  /** The obstacle that has to be named first. */
  readonly named: RegExp;
  /** Removes the obstacle when the remedy is no command. */
  help?(host: TestHost): unknown;
}

describe('admin: what !diagnose says is what happens', () => {
  let host: TestHost;
  let api: Awaited<ReturnType<typeof startOpenAiStandIn>>;
  const vendor: { key?: string } & Parameters<typeof startOpenAiStandIn>[0] = {
    script: () => answerWith('Hello from afar'),
  };
  before(async () => {
    api = await startOpenAiStandIn(vendor);
    const env = { OPENAI_API_KEY: 'sk-1', OPENAI_BASE_URL: api.baseUrl, OPENAI_MODEL: 'far-1' };
    const settings = { llm: { retries: 0 } };
    host = await createTestHost({
      plugins: ['admin', 'ai', 'chat', 'llm', 'accounts', 'confirm', vault],
      env,
      settings,
    });
  });
  after(async () => {
    await host[Symbol.asyncDispose]();
    await api[Symbol.asyncDispose]();
  });

  const say = async (user: LocalUser, text: string) => {
    const before = host.general.messages.length;
    user.say(host.general, text);
    await host.settled();
    const answers = host.general.messages.slice(before).filter(({ author }) => author.bot);
    return answers.map(({ content }) => content).join('\n');
  };
  const asYou = (text: string) => say(host.you, text);
  const actor = () => ({ userId: host.alice.id, guildId: host.guild.id, channelId: host.general.id });
  /** The first obstacle and its remedy; `undefined` without an obstacle. */
  const diagnose = async (what: string) => {
    await host.advance(40_000);
    const text = await asYou(`!diagnose ${host.alice} ${what}`);
    const [, obstacle, remedy] = /\*\*First obstacle\*\*: (.*)\. \*\*Remedy\*\*: (.*)$/m.exec(text) ?? [];
    if (obstacle === undefined) expect(text).to.include('Nothing stands in the way here.');
    return obstacle === undefined || remedy === undefined ? undefined : { obstacle, remedy };
  };
  /** Whether the command, tool or question works for the member. */
  const works = async (what: string): Promise<boolean> => {
    if (what === 'count_gold') {
      const request = { name: what, arguments: {}, actor: actor(), origin: 'test' };
      const outcome = await host.resolve(Tools).invoke(request);
      // A call with a confirmation card is not refused.
      return outcome.status === 'done' || outcome.status === 'deferred';
    }
    const answers: Readonly<Record<string, string>> = {
      open: 'Open',
      peek: 'Gold',
      burn: 'Ash',
      ai: 'Hello from afar',
    };
    return (await say(host.alice, `!${what}${what === 'ai' ? ' hello' : ''}`)).includes(answers[what] ?? '?');
  };

  const spend = (tokens: number) => {
    const usage = {
      inputTokens: tokens,
      outputTokens: 0,
      cacheCreationTokens: 0,
      cacheReadTokens: 0,
      cacheCreation1hTokens: 0,
    };
    return host.resolve(Accounts).record(receipt({ id: `r${tokens}`, actor: actor(), at: host.clock.now(), usage }));
  };

  const obstacles: readonly Obstacle[] = [
    {
      title: 'a plugin that is not loaded',
      what: 'vault',
      put: () => host.plugins.unload('vault'),
      named: /^the plugin "vault" is stopped$/,
    },
    {
      title: 'a plugin that is off',
      what: 'open',
      put: () => asYou('!plugin disable vault'),
      named: /switched off here$/,
    },
    { title: 'a tier', what: 'open', put: () => undefined, named: /^you need to be at least a moderator/ },
    {
      title: 'a rule',
      what: 'peek',
      put: () => asYou('!access deny plugin:vault everyone'),
      named: /^a rule of this server denies the plugin `vault`/,
    },
    {
      title: 'a rule for a channel',
      what: 'peek',
      put: () => asYou(`!access deny peek ${host.general}`),
      named: /^a rule of this server denies the command `peek` in/,
    },
    {
      title: 'a rule of the bot’s owner',
      what: 'peek',
      put: () => asYou('!access global deny plugin:vault servers'),
      named: /^a rule of the bot’s owner denies/,
    },
    {
      title: 'a command that is off',
      what: 'peek',
      put: () => asYou('!command disable peek'),
      named: /^a rule of this server denies the command `peek` for everyone/,
    },
    {
      title: 'a blocked member',
      what: 'peek',
      put: () => asYou(`!block add ${host.alice}`),
      named: /^a rule of this server denies everything for/,
    },
    {
      title: 'an ignored channel',
      what: 'peek',
      put: () => asYou(`!ignore channel ${host.general}`),
      named: /^a rule of this server denies everything in/,
    },
    {
      title: 'an allow list',
      what: 'peek',
      put: () => asYou(`!allowlist add ${host.bob}`),
      named: /^a rule of this server denies everything for everyone/,
    },
    {
      title: 'a member blocked by the bot’s owner',
      what: 'peek',
      put: () => asYou(`!access global deny everything ${host.alice}`),
      named: /^a rule of the bot’s owner denies everything/,
    },
    {
      title: 'a server that is not served',
      what: 'peek',
      put: () => asYou('!access global deny everything servers'),
      named: /^a rule of the bot’s owner denies everything in every server/,
    },
    {
      title: 'a cooldown',
      what: 'open',
      put: async () => {
        await host.advance(600_000);
        await say(host.alice, '!open');
      },
      named: /^it was used too often/,
      help: () => host.advance(600_000),
    },
    {
      title: 'a permission that the bot lacks',
      what: 'peek',
      put: () => host.guild.overwrite(host.general, { for: host.bot, deny: ['AttachFiles'] }),
      named: /^I lack Attach Files in this channel$/,
      help: () => host.guild.overwrite(host.general, { for: host.bot, allow: ['AttachFiles'] }),
    },
    {
      title: 'a permission that the member lacks',
      what: 'burn',
      put: () => undefined,
      named: /^you lack Kick Members in this channel$/,
      help: () => host.guild.overwrite(host.general, { for: host.alice, allow: ['KickMembers'] }),
    },
    {
      title: 'a tool that is off',
      what: 'count_gold',
      put: () => asYou('!tool disable count_gold'),
      named: /^the policy for this tool here is `deny`$/,
    },
    {
      title: 'a guard that does not run',
      what: 'count_gold',
      put: () => host.plugins.unload('confirm'),
      named: /^the plugin "confirm", which guards/,
    },
    {
      title: 'a budget of the server',
      what: 'ai',
      put: async () => {
        await asYou('!budget set server 10 tokens a day');
        await spend(20);
      },
      named: /^this server's budget for today is used up/,
    },
    {
      title: 'a budget of a member',
      what: 'ai',
      put: async () => {
        await asYou('!budget set member 10 tokens a day');
        await spend(21);
      },
      named: /^your budget for today is used up/,
    },
    {
      title: 'a ceiling',
      what: 'ai',
      put: async () => {
        await asYou('!budget ceiling channel 10 tokens a month');
        await spend(22);
      },
      named: /^this channel's budget for this month is used up/,
    },
    {
      title: 'a responder that is off',
      what: 'ai',
      put: () => asYou('!plugin disable chat'),
      named: /^`chat` is to answer here, and is not there$/,
    },
    {
      title: 'a key that the vendor refuses',
      what: 'ai',
      put: () => Object.assign(vendor, { key: 'sk-2' }),
      named: /does not accept my key$/,
      help: () => Object.assign(vendor, { key: 'sk-1' }),
    },
    {
      title: 'a model that is not connected',
      what: 'ai',
      put: () => host.plugins.unload('llm'),
      named: /^no language model is connected$/,
    },
  ];

  for (const { title, what, put, named, help } of obstacles) {
    it(`${title}: fails, is named, and works after its remedy`, async () => {
      if (what === 'open' && title !== 'a tier') await asYou(`!access allow open ${host.alice}`);
      await host.advance(40_000);
      await put(host);
      if (title !== 'a plugin that is not loaded') expect(await works(what), 'it fails').to.equal(false);
      const found = await diagnose(what);
      expect(found?.obstacle).to.match(named);
      if (help !== undefined) await help(host);
      else {
        const [, command] = /`([^`]+)`/.exec(found?.remedy ?? '') ?? [];
        expect(command, found?.remedy).to.be.a('string');
        await asYou(`!${command}`);
      }
      await host.advance(40_000);
      expect(await diagnose(what), 'nothing is left').to.equal(undefined);
      if (what !== 'vault') expect(await works(what), 'it works').to.equal(true);
      await host.advance(600_000);
      await asYou('!access clear all');
    });
  }

  it('names that the bot cannot write there, to the slash command, which works all the same', async () => {
    const ask = async () => {
      await host.advance(40_000);
      const asked = host.you.slash(host.general, 'diagnose', { who: `${host.alice}`, what: 'peek' });
      const [answer] = (await asked.answered()).messages;
      return answer?.content ?? '';
    };
    host.guild.overwrite(host.general, { for: host.bot, deny: ['SendMessages'], allow: ['AttachFiles'] });
    expect(await works('peek')).to.equal(false);
    expect(await ask()).to.match(
      /First obstacle\*\*: I lack Send Messages in this channel, so a typed command gets no answer/,
    );
    host.guild.overwrite(host.general, { for: host.bot, allow: ['SendMessages', 'AttachFiles'] });
    expect(await ask()).to.include('Nothing stands in the way here.');
    expect(await works('peek')).to.equal(true);
  });

  it('names that the member can neither write nor use slash commands', async () => {
    host.guild.overwrite(host.general, { for: host.alice, deny: ['SendMessages', 'UseApplicationCommands'] });
    expect((await diagnose('peek'))?.obstacle).to.equal('you can neither write nor use slash commands in this channel');
    host.guild.overwrite(host.general, { for: host.alice, allow: ['SendMessages'] });
    expect(await diagnose('peek')).to.equal(undefined);
  });

  it('names a time-out of the member as long as it lasts', async () => {
    const member = await host.client.guilds.cache.get(host.guild.id)?.members.fetch(host.alice.id);
    await member?.edit({ communicationDisabledUntil: host.clock.now() + 600_000 });
    await host.settled();
    expect((await diagnose('peek'))?.obstacle).to.include('you are in a time-out until');
    await host.advance(660_000);
    expect(await diagnose('peek')).to.equal(undefined);
  });

  it('never disagrees with what happens, whatever the rules and switches are', async () => {
    const lines = [
      '!access deny peek everyone',
      '!access deny plugin:vault everyone',
      `!access allow peek ${host.alice}`,
      `!access allow tool:count_gold ${host.alice}`,
      `!access allow open ${host.alice}`,
      '!access deny tool:count_gold everyone',
      `!access global deny peek ${host.alice}`,
      '!access global allow plugin:vault servers',
      `!block add ${host.alice}`,
      `!allowlist add ${host.bob}`,
      '!tool policy count_gold deny',
      '!tool policy count_gold confirm',
      '!plugin disable vault',
      '!plugin disable confirm',
    ];
    const undo = [
      '!access clear all',
      '!access global clear all',
      '!tool policy count_gold default',
      '!plugin enable vault',
      '!plugin enable confirm',
    ];
    const switches = fc.uniqueArray(fc.constantFrom(...lines), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(switches, async (chosen) => {
        for (const line of chosen) await asYou(line);
        for (const what of ['peek', 'open', 'count_gold']) {
          await host.advance(600_000);
          const found = await diagnose(what);
          const own = found?.obstacle.startsWith('to ask the AI for it') === true ? undefined : found;
          await host.advance(600_000);
          expect(await works(what), `${what}: ${own?.obstacle}`).to.equal(own === undefined);
        }
        for (const line of undo) await asYou(line);
      }),
      { numRuns: 6 },
    );
  });
});
