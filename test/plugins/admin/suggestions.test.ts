import { readFile } from 'node:fs/promises';
import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalUser } from '@cinnabar/local-discord';
import { Commands, z } from '@cinnabar/sdk';
import { expect } from 'chai';
import { answering } from './harness.js';

describe('admin: commands that do not exist', () => {
  let host: TestHost;
  let say: (user: LocalUser, text: string) => Promise<string>;

  before(async () => {
    host = await createTestHost({
      plugins: ['admin', 'logging', 'moderation', 'automod', 'custom', 'roles', 'reminders'],
    });
    say = answering(host);
  });
  // Advances past the rate limit of suggestions.
  afterEach(() => host.advance(61_000));
  after(() => host[Symbol.asyncDispose]());

  const KNOWN_IN_RED = [
    ['!cogs', '`!plugin list`'],
    ['!load audio', '`!plugin load`'],
    ['!permissions explain @someone', '`!access explain`'],
    ['!permissions', '`!access list`'],
    ['!localblocklist add', '`!block add`'],
    ['!blocklst', '`!blocklist`'],
    ['!whitelist add', '`!allowlist add`'],
    ['!uptime', '`!bot uptime`'],
    ['!announce hello', '`!bot announce`'],
    ['!modset', '`!set moderation`'],
    ['!unblock @someone', '`!block remove`'],
    ['!ping', '`!bot ping`'],
    ['!voicemute @someone', '`!timeout`'],
    ['!logging', '`!plugin info logging`'],
    ['!custom', '`!plugin info custom`'],
    ['!filter add heck', '`!plugin enable automod`'],
  ] as const;
  it('get the name of the command here, for users who know Red', async () => {
    for (const [typed, meant] of KNOWN_IN_RED) {
      expect(await say(host.you, typed), typed).to.include(`Did you mean ${meant}?`);
      await host.advance(61_000);
    }
    expect(await say(host.you, '!set prefix ?')).to.include('Did you mean `prefix add`?');
    expect(await say(host.you, '!set nickname Max')).to.include('Did you mean `bot nick`?');
  });

  /** Unknown commands for games, money, music, feeds and code. */
  const NOTHING_LIKE_IT = (
    '8 8ball audioset audiostats autoplay bank bankset bump bumpplay bypasscooldowns choose debug disconnect economyset editrole eq eval flip genre gif ' +
    'gifr giphycreds hug imgur imgurcreds leaderboard llset lmgtfy local mock mockmsg movedeletedelay moveignoredchannels now pause payday payouts percent ' +
    'picarto play playlist prev queue remove rename repeat repl report reportset roll rps search seek serverinfo shuffle sing skip slot stop stopwatch ' +
    'streamalert streamset summon sw trivia triviaset twitchstream urban voiceban voicekick voiceunban volume youtubestream'
  ).split(' ');
  it('are known, each command of a Red 3.5.24: it is here, is called otherwise here, or there is nothing like it', async () => {
    const text = await readFile(new URL('../../../fixtures/red-3.5.24/commands.json', import.meta.url), 'utf8');
    const inRed = Object.values(z.record(z.string(), z.array(z.string())).parse(JSON.parse(text))).flat();
    expect(inRed.length).to.be.greaterThan(150);
    const commands = host.resolve(Commands);
    const names = new Set(commands.names());
    const silent: string[] = [];
    const others = inRed.filter((name) => !names.has(name) && !commands.has(name));
    for (const name of others) {
      if (others.indexOf(name) % 5 === 0) await host.advance(61_000);
      const answer = await say(host.you, `!${name}`);
      if (answer === '') silent.push(name);
      else expect(answer, name).to.include('Did you mean');
    }
    expect(silent.sort()).to.deep.equal(NOTHING_LIKE_IT);
  });

  it('get no answer where the member may not use what is meant, nor as ordinary text, prices or code', async () => {
    expect(await say(host.alice, '!load audio')).to.equal('');
    expect(await say(host.alice, '!filter')).to.equal('');
    for (const text of [
      '!5',
      '!100 eddies',
      '!important;',
      '!= null',
      '!!',
      '!(a || b)',
      '!banana',
      '!constructor',
      '!bank',
      '!roll 2d6',
    ])
      expect(await say(host.you, text), text).to.equal('');
  });

  it('get a few answers in a minute, and none where that is switched off', async () => {
    for (let n = 0; n < 5; n += 1) expect(await say(host.you, '!cogs')).to.include('Did you mean');
    expect(await say(host.you, '!cogs')).to.equal('');
    await host.advance(61_000);
    await say(host.you, '!set admin suggestions off');
    expect(await say(host.you, '!cogs')).to.equal('');
    await say(host.you, '!unset admin suggestions');
    expect(await say(host.you, '!cogs')).to.include('Did you mean');
  });
});
