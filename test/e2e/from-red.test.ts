import { readFileSync } from 'node:fs';
import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import { expect } from 'chai';

const DOCUMENT = new URL('../../../docs/admins/from-red.md', import.meta.url);

/** A row of the table: a task of an admin of Red, and the commands for it here. */
interface Line {
  readonly number: number;
  readonly title: string;
  readonly typed: readonly string[];
  readonly note: string;
}

const LINES: readonly Line[] = readFileSync(DOCUMENT, 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, number = '', title = '', , here = '', note = ''] = line.split('|').map((cell) => cell.trim());
    if (!/^\d+$/.test(number)) return [];
    const typed = [...here.matchAll(/`([^`]+)`/g)].flatMap(([, text]) => text ?? []);
    return [{ number: Number(number), title, typed, note }];
  });

/** The bot's answers to these commands. */
const ANSWERS: Readonly<Record<string, RegExp>> = {
  '!plugin install ./examples/dice': /\*\*dice\*\* 1\.0\.0: [\s\S]*It runs in the bot’s process/,
  '!plugin updates': /^No plugins are installed beside those that come with the host\.$/,
  '!plugin unload party': /^Unloaded `party`\.$/,
  '!plugin load party': /^Loaded `party` /,
  '!plugin reload party': /^Reloaded `party` /,
  '!plugin list': /^\*\*Plugins\*\*[\s\S]*`moderation`/,
  '!plugin disable party': /^`party` is off in this server now\./,
  '!plugin enable party': /^`party` is on in this server now\./,
  '!command disable cases': /`cases`/,
  '!command enable cases': /`cases`/,
  '!access deny plugin:party Fixers': /^Denied: the plugin `party` for the role /,
  '!access deny plugin:party #general': /^Denied: the plugin `party` in /,
  '!access allow plugin:party everyone': /^Allowed: the plugin `party` for everyone\.$/,
  '!access clear plugin:party': /^Removed 3 rules:/,
  '!access explain @alice kick': /⛔ `kick`: refused[\s\S]*✗ you lack Kick Members/,
  '!access check @alice': /counts as one of: everyone\nCommands: `/,
  '!roles mod add @Fixers': /^Members of <@&\d+> are moderators for me now\.$/,
  '!roles admin add @Fixers': /^Members of <@&\d+> are admins for me now\.$/,
  '!roles list': /^Admins: <@&\d+>\nModerators: <@&\d+>$/,
  '!roles mod remove @Fixers': /no longer moderators/,
  '!roles admin remove @Fixers': /no longer admins/,
  '!prefix add ?': /^Commands start with `!`, `\?` here/,
  '?prefix show': /^Commands start with `!`, `\?` here/,
  '!alias add quiet timeout {0} 10m': /quiet/,
  '!alias list': /quiet/,
  '!customcom create hi Hello {author.mention}!': /`hi`/,
  '!hi': /^Hello <@\d+>!$/,
  '!customcom list': /`hi`/,
  '!ignore channel #quiet': /^I ignore everything in <#\d+> now/,
  '!ignore list': /• in <#\d+>/,
  '!ignore remove #quiet': /^I listen again in <#\d+>\.$/,
  '!block add @bob': /^Blocked: everything for <@\d+>\.$/,
  '!block list': /^\*\*Blocked here\*\*\n• for <@\d+>$/,
  '!block remove @bob': /^Not blocked any more: everything for <@\d+>\.$/,
  '!allowlist add @alice': /^On the list: everything for <@\d+>\./,
  '!allowlist remove @alice': /^The list is empty/,
  '!access global list': /^There are no rules for all servers\.$/,
  '!set moderation modlog #quiet': /^`modlog` of `moderation` is <#\d+> for this server now\.$/,
  '!cases': /^There are no cases yet\.$/,
  '!warn @alice spamming': /was warned \(case 1\)/,
  '!warnings @alice': /1 point · spamming/,
  '!unwarn 1': /^✓ The warning \(case 1\) is taken back\.$/,
  '!case 1': /Case 1 · Warning[\s\S]*Reason: spamming/,
  '!reason 1 said sorry': /^✓ Case 1 has a new reason\.$/,
  '!timeout @alice 10m too loud': /is in time-out for 10m.*\(case 2\)\.$/,
  '!untimeout @alice': /^✓ The time-out of .* has ended \(case 3\)\.$/,
  '!kick @bob go': /\(case 4\)/,
  '!ban @bob 1 raid': /\(case 5\)/,
  '!unban @bob': /\(case 6\)/,
  '!purge 2': /^✓ 2 messages were deleted\.$/,
  '!plugin enable automod': /^`automod` is on in this server now\./,
  '!automod words add badword, two words': /2 words/,
  '!automod words list': /badword/,
  '!rolemenu create games': /^Made the menu \*\*games\*\*/,
  '!rolemenu add games @Players': /Players/,
  '!role get @Players': /^You now have <@&\d+>\.$/,
  '!role drop @Players': /<@&\d+>/,
  '!autorole add @Players': /Players/,
  '!bot announce Maintenance tonight': /^Say this in \S+ server/,
  '!set admin announcements #general': /^`announcements` of `admin` is <#\d+> for this server now/,
  '!bot contact The music stopped': /^I have passed it on to the owner of the bot\.$/,
  '!language server de': /^Ab jetzt schreibe ich hier auf Deutsch\.$/,
  '!language server auto': /^From now on I write in English here\.$/,
  '!language me en': /^From now on I write to you in English\.$/,
  '!plugin enable welcome': /^`welcome` is on in this server now\./,
  '!welcome channel #general': /^New members are greeted in <#\d+>\./,
  '!welcome add greeting Hello {member}!': /^Greeting in the channel: it is one of 2 texts/,
  '!welcome preview': /2\. Hello <@\d+>!/,
  '!diagnose @alice kick': /✗ you need to be at least a moderator here/,
  '!audit': /^\*\*Audit\*\*/,
  '!backup': /back/i,
  '!backup list': /^I have sent it to you in a direct message\.$/,
  '!bot info': /runs on Cinnabar \d/,
  '!bot uptime': /^Up for /,
  '!bot ping': /^Pong\./,
  '!bot invite': /scope=bot\+applications\.commands&permissions=\d+/,
  '!bot restart': /^Restarting\./,
  '!bot shutdown': /^Stop the bot\?/,
  '!bot nick Red': /^I am called Red here now\.$/,
  '!bot status playing chess': /^Done\. It stays after a restart\.$/,
  '!bot avatar': /^I look here as I do elsewhere now\.$/,
  '!bot servers': /^\*\*Servers\*\* \(1\)/,
  '!bot leave': /^Leave \*\*Night City\*\*/,
  '!secrets': /\S/,
  '!set moderation': /^\*\*Settings of moderation\*\*/,
  '!set moderation banDeleteDays 9': /a whole number from 0 to 7, not "9"\.$/,
  '!set moderation banDeleteDays 1': /^`banDeleteDays` of `moderation` is `1` for this server now\.$/,
  '!unset moderation banDeleteDays': /is back to the default, /,
  '/bot ping': /^Pong\./,
  '!mydata export': /^I have sent it to you in a direct message\.$/,
  '!mydata forget everything': /^Done\. I have deleted what I held of you/,
};

describe('the commands that replace those of Red', () => {
  let host: TestHost;

  before(async () => {
    host = await createTestHost({
      plugins: ['accounts', 'admin', 'automod', 'custom', 'llm', 'moderation', 'party', 'roles', 'welcome'],
      permissions: ['Administrator'],
    });
    host.guild.createChannel({ name: 'quiet' });
    for (const name of ['Fixers', 'Players']) host.guild.createRole({ name, position: 1 });
    await host.settled();
  });
  after(() => host[Symbol.asyncDispose]());

  /** Replaces names of members and roles by mentions, as Discord does with choices from its list. */
  const mentioning = (text: string) =>
    text.replaceAll(/@(\w+)/g, (name, called: string) => {
      if (called === 'alice' || called === 'bob') return `<@${host[called].id}>`;
      const role = [...host.guild.roles.values()].find((one) => one.name === called);
      return role === undefined ? name : `<@&${role.id}>`;
    });

  const type = async (text: string): Promise<string> => {
    if (text.startsWith('/')) {
      const interaction = host.you.slash(host.general, text.slice(1));
      await host.settled();
      return interaction.messages[0]?.content ?? '';
    }
    const before = new Set(host.general.messages);
    host.you.say(host.general, mentioning(text));
    await host.settled();
    const answers = host.general.messages.filter((one) => !before.has(one) && one.author.bot);
    return answers.map(({ content }) => content).join('\n');
  };

  for (const { number, title, typed } of LINES.filter((line) => line.typed.length > 0)) {
    it(`${number}. ${title}`, async () => {
      for (const text of typed) {
        const expected = ANSWERS[text];
        expect(expected, `an answer to ${text} is expected by this test`).to.be.instanceOf(RegExp);
        expect(await type(text), text).to.match(expected ?? /^$/);
      }
    });
  }

  it('are the forty rows of the table, in which every other row explains its difference', () => {
    expect(LINES.map(({ number }) => number)).to.deep.equal(Array.from({ length: 40 }, (_, index) => index + 1));
    for (const { typed, note, title } of LINES)
      if (typed.length === 0) expect(note, title).to.match(/^Not (?:yet|available): /);
    expect(LINES.filter(({ typed }) => typed.length > 0).length).to.be.at.least(38);
  });
});
