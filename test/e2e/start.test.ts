import { type LocalDiscord, type PrivilegedIntent, startLocalDiscord } from '@cinnabar/local-discord';
import { hang, say, startOpenAiStandIn } from '@cinnabar/local-models';
import { expect } from 'chai';
import { useFolder } from '../core/plugins/support/folder.js';
import { cinnabar, PROGRAM } from '../support/cinnabar.js';
import { useCommandLine } from './support/command-line.js';

function inhabit(discord: LocalDiscord, privilegedIntents?: readonly PrivilegedIntent[]) {
  const you = discord.createUser({ name: 'you' });
  const bot = discord.createApplication({
    name: 'Cinnabar',
    owner: you,
    ...(privilegedIntents === undefined ? {} : { privilegedIntents }),
  });
  const guild = discord.createGuild({ name: 'Night City', owner: you });
  guild.invite(bot);
  return { you, bot, general: guild.createChannel({ name: 'general' }) };
}

describe('npm start with a token', function () {
  this.timeout(60_000);
  const folder = useFolder();
  const { start } = useCommandLine();
  const environment = (discord: LocalDiscord, token: string, data = 'data') => ({
    CINNABAR_DATA: folder.at(data),
    DISCORD_API: discord.api,
    DISCORD_TOKEN: token,
  });

  it('logs in, answers, and at SIGTERM finishes the answer under way before it leaves', async () => {
    await using discord = await startLocalDiscord();
    await using openai = await startOpenAiStandIn({ steps: [say('Hello!'), hang(say('Last words.'))] });
    const { you, bot, general } = inhabit(discord);
    const { child, ended, prints } = start({ ...environment(discord, bot.token), OPENAI_BASE_URL: openai.baseUrl });
    const ready = await prints(/\n/);
    expect(ready).to.match(/^Cinnabar \S+ is ready as Cinnabar\S* in 1 guild, with \d+ plugins: .*party/);

    you.say(general, '!ai Hi');
    await discord.expectMessage({ author: bot, content: 'Hello!' });
    you.say(general, '!ai Anything else?');
    await openai.hanging();
    child.kill('SIGTERM');
    openai.release();
    await discord.expectMessage({ author: bot, content: 'Last words.' });
    const { code, signal, out, err } = await ended;
    expect({ code, signal }).to.deep.equal({ code: 0, signal: null });
    expect(out).to.equal(ready);
    expect(err)
      .to.not.match(/ (warn|error) /)
      .and.not.to.include(bot.token);
  });

  it('says alone and in a cluster why a database cannot be used, without a stack trace', async () => {
    await using discord = await startLocalDiscord();
    const { bot } = inhabit(discord);
    // A port without a server.
    const env = {
      ...environment(discord, bot.token),
      DATABASE_URL: 'postgres://cinnabar:hunter2@127.0.0.1:1/cinnabar',
    };
    const [alone, member] = [await start(env).ended, await start(env, ['start', '--cluster']).ended];
    for (const { code, err } of [alone, member]) {
      expect(code).to.equal(1);
      expect(err).to.match(/^cinnabar: The data in the database, schema cinnabar, .* cannot be used: .*$/m);
      expect(err)
        .to.not.match(/^ +at /m)
        .and.not.include('hunter2');
    }
  });

  it('prints a link that signs the owner of the bot in to the dashboard, once', async () => {
    await using discord = await startLocalDiscord();
    const { you, bot } = inhabit(discord);
    const { child, ended, prints } = start({ ...environment(discord, bot.token), CINNABAR_WEB: '0' });
    const link = new URL((await prints(/\/sign-in#\S+\n/)).match(/http\S+/)?.[0] ?? '');
    const follow = () =>
      fetch(new URL('/auth/link', link), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token: link.hash.slice(1) }),
      });
    const entered = await follow();
    const [cookie = ''] = entered.headers.getSetCookie();
    const session = await fetch(new URL('/api/session', link), { headers: { cookie: cookie.split(';', 1)[0] ?? '' } });
    expect(await session.json())
      .to.deep.include({ isOwner: true })
      .and.to.have.nested.property('user.id', you.id);
    expect((await follow()).status, 'the second time').to.equal(403);
    child.kill('SIGTERM');
    const { err } = await ended;
    expect(err, 'what is logged').to.not.include(link.hash);
  });

  it('ends at once after a second signal', async () => {
    await using discord = await startLocalDiscord();
    await using openai = await startOpenAiStandIn({ steps: [hang()] });
    const { you, bot, general } = inhabit(discord);
    const { child, ended, prints } = start({ ...environment(discord, bot.token), OPENAI_BASE_URL: openai.baseUrl });
    await prints(/ready/);
    you.say(general, '!ai Hi');
    await openai.hanging();
    child.kill('SIGINT');
    child.kill('SIGTERM');
    expect((await ended).code).to.equal(130);
  });

  it('starts again at `!bot restart`, says so where that was said, and stays down after `!bot shutdown`', async () => {
    await using discord = await startLocalDiscord();
    const { you, bot, general } = inhabit(discord);
    // The value that `npm start` passes to its child process.
    const CINNABAR_LAUNCHER = JSON.stringify([PROGRAM, 'start']);
    const { ended, prints } = start({ ...environment(discord, bot.token), CINNABAR_LAUNCHER });
    await prints(/ready/);
    you.say(general, '!prefix add ?');
    await discord.expectMessage({ author: bot, content: /Commands start with/ });
    const restart = you.say(general, '!bot restart');
    await discord.expectMessage({ author: bot, content: /^I am back/, since: restart, timeoutMs: 20_000 });
    const asked = you.say(general, '?bot uptime');
    await discord.expectMessage({ author: bot, content: /Up for \ds/, since: asked });
    you.say(general, '?bot shutdown');
    you.click(await discord.expectMessage({ author: bot, content: /^Stop the bot\?/ }), 'Stop it');
    const { code, signal, out } = await ended;
    expect({ code, signal }).to.deep.equal({ code: 0, signal: null });
    expect(out.match(/is ready as/g)).to.have.length(2);
  });

  it('explains a login that Discord refuses, without repeating the token', async () => {
    await using discord = await startLocalDiscord();
    const { bot } = inhabit(discord, ['GuildMembers']);
    const wrong = `${bot.token.slice(0, -4)}AAAA`;
    const refusals: readonly (readonly [string, RegExp])[] = [
      [wrong, /the token is not valid\. Check DISCORD_TOKEN/],
      [bot.token, /not approved for all of these intents: .*MessageContent.*Developer Portal/],
    ];
    const runs = refusals.map(([token], index) => start(environment(discord, token, `data-${index}`)).ended);
    for (const [index, [token, sentence]] of refusals.entries()) {
      const { code, out, err } = (await runs[index]) ?? {};
      expect({ code, out }).to.deep.equal({ code: 1, out: '' });
      expect(err).to.not.include(token);
      expect(err?.trimEnd().split('\n').at(-1), token).to.match(sentence);
    }
  });
});

describe('npm start with a configuration that is wrong', function () {
  this.timeout(60_000);
  const folder = useFolder();
  const { start } = useCommandLine();

  const refusal = async (env: Readonly<Record<string, string>>, args?: readonly string[]) => {
    const { child, ended } = start({ CINNABAR_DATA: folder.at('data'), ...env }, args);
    child.stdin.end();
    const { code, out, err } = await ended;
    expect({ code, out }, JSON.stringify(env)).to.deep.equal({ code: 1, out: '' });
    expect(err).to.not.match(/^ +at /m);
    return err;
  };
  /** The same of a command that reads the same configuration and starts no bot, in this process. */
  const refusalOfExport = async (env: Readonly<Record<string, string>>) => {
    const { code, out, err } = await cinnabar(['export', '1'], {
      cwd: process.cwd(),
      env: { CINNABAR_DATA: folder.at('data'), ...env },
    });
    expect({ code, out }, JSON.stringify(env)).to.deep.equal({ code: 1, out: '' });
    return err;
  };

  it('names the variable, says what would be right, and ends with 1', async () => {
    await folder.write({ 'a-file': 'no folder' });
    const cases: readonly (readonly [Readonly<Record<string, string>>, RegExp])[] = [
      [{ DISCORD_API: 'discord' }, /DISCORD_API must be a URL such as http:/],
      [{ LOG_LEVEL: 'loud' }, /LOG_LEVEL .*"error"\|"warn"\|"info"\|"debug"/],
      [{ CINNABAR_OWNERS: 'me' }, /CINNABAR_OWNERS must be Discord user ids/],
      [{ CINNABAR_DATA: folder.at('a-file') }, /CINNABAR_DATA must be a folder/],
    ];
    for (const [env, sentence] of cases) expect(await refusalOfExport(env)).to.match(sentence);
    expect(await refusal({ DISCORD_API: 'discord' })).to.include('DISCORD_API must be a URL');
  });

  it('names the file and the line', async () => {
    const CINNABAR_CONFIG = folder.at('config');
    const shared = folder.at('config', 'shared.yaml');
    await folder.write({ 'config/shared.yaml': '# mine\nhost:\n  prefixes: ["!"]\n  logLevel: shouty\n' });
    expect(await refusal({ CINNABAR_CONFIG })).to.include(`${shared}:4: host.logLevel`);
    await folder.write({ 'config/shared.yaml': 'host:\n  prefixs: ["!"]\n' });
    expect(await refusalOfExport({ CINNABAR_CONFIG })).to.match(/shared\.yaml:\d: .*prefixs/);
    await folder.write({ 'config/shared.yaml': 'host:\n\tprefixes: ["!"]\n' });
    expect(await refusalOfExport({ CINNABAR_CONFIG })).to.include(`${shared}:2: `);
  });

  it('explains a command that does not exist', async () => {
    expect(await refusal({}, ['begin'])).to.match(/There is no command "begin"[\s\S]*cinnabar start/);
  });
});
