import { type Actor, sendingObstacle, t, translated, UserError } from '@cinnabar/sdk';
import type { Guild, GuildMember, PermissionsString } from 'discord.js';
import { fillIn, KINDS, type Kind, LIMITS, problemOf, TEXTS, type WelcomeContext } from './context.js';
import { arrivalOf } from './greeter.js';

export type Setup = ReturnType<typeof createSetup>;

/** The settings that admins change, for commands and tools alike. Each act resolves with a sentence. */
export function createSetup({ client, settings, services }: WelcomeContext) {
  const channelKey = (kind: 'greeting' | 'goodbye') => (kind === 'goodbye' ? 'goodbyeChannel' : 'channel');

  return {
    /** @param channelId `undefined` turns the messages off. @throws UserError */
    async setChannel(
      guild: Guild,
      kind: 'greeting' | 'goodbye',
      channelId: string | undefined,
      actor: Actor,
    ): Promise<string> {
      const key = channelKey(kind);
      if (channelId === undefined) {
        await settings.guild(guild).reset(key);
        return kind === 'greeting'
          ? t('New members are no longer greeted in a channel.')
          : t('It is no longer said who leaves.');
      }
      const needed: readonly PermissionsString[] = ['SendMessages'];
      if (!(await services.access.mayEnter(actor, { guildId: guild.id, channelId }, needed)))
        throw new UserError(t('You cannot write in that channel.'));
      const obstacle = await sendingObstacle(guild, channelId);
      if (obstacle !== undefined) throw new UserError(obstacle);
      await settings.guild(guild).set({ [key]: channelId });
      const values = { channel: `<#${channelId}>` };
      const said =
        kind === 'greeting'
          ? t('New members are greeted in {channel}.', values)
          : t('In {channel} it is said who leaves.', values);
      return [said, ...missingIntent()].join('\n');
    },

    /** @param replace whether the text replaces all others. @throws UserError */
    async addText(guild: Guild, kind: Kind, text: string, replace = false): Promise<string> {
      const problem = problemOf(text);
      if (problem !== undefined) throw new UserError(problem);
      const key = TEXTS[kind];
      const { [key]: all } = await settings.guild(guild).update((draft) => {
        if (!replace && draft[key].length >= LIMITS.texts)
          throw new UserError(t('There are at most {most} texts of a kind: remove one first.', { most: LIMITS.texts }));
        draft[key] = [...(replace ? [] : draft[key]), text];
      });
      return t('{kind}: {count, plural, one {this is the text.} other {it is one of # texts, used in turn.}}', {
        kind: nameOf(kind),
        count: all.length,
      });
    },

    /** @param number from 1, as listed. @throws UserError */
    async removeText(guild: Guild, kind: Kind, number: number): Promise<string> {
      const key = TEXTS[kind];
      const { [key]: all } = await settings.guild(guild).update((draft) => {
        if (draft[key][number - 1] === undefined)
          throw new UserError(t('There is no text number {number}.', { number }));
        draft[key] = draft[key].filter((_, index) => index !== number - 1);
      });
      return t(
        '{kind}: {count, plural, =0 {no text is left, so nothing is said.} one {one text is left.} other {# texts are left.}}',
        {
          kind: nameOf(kind),
          count: all.length,
        },
      );
    },

    /** The channels of the messages, with obstacles. */
    async show(guild: Guild): Promise<string> {
      const { channel, greetings, goodbyeChannel, goodbyes, directs, bots, mostPerMinute } = await settings
        .guild(guild)
        .get();
      const place = async (id: string | undefined, kind: 'greeting' | 'goodbye', texts: readonly string[]) => {
        if (id === undefined) return t('nowhere');
        const obstacle = await sendingObstacle(guild, id);
        const problems = [
          ...(obstacle === undefined ? [] : [obstacle]),
          ...(texts.length > 0
            ? []
            : [
                t('There is no text for it, so nothing is said: add one with {command}.', {
                  command: `\`welcome add ${kind}\``,
                }),
              ]),
        ];
        return [`<#${id}>`, ...problems.map((problem) => `⚠️ ${problem}`)].join(' ');
      };
      const count = (texts: readonly string[]) =>
        t('{count, plural, =0 {no} one {yes} other {yes, # texts in turn}}', { count: texts.length });
      return [
        t('Greetings: {place}', { place: await place(channel, 'greeting', greetings) }),
        t('By direct message: {answer}', { answer: count(directs) }),
        t('When a bot is added: {answer}', { answer: count(bots) }),
        t('Goodbyes: {place}', { place: await place(goodbyeChannel, 'goodbye', goodbyes) }),
        t('At most {most} in a minute.', { most: mostPerMinute }),
        ...missingIntent(),
      ].join('\n');
    },

    /** Every text of a kind, or of all kinds, rendered for a member. */
    async preview(member: GuildMember, only: Kind | undefined): Promise<string> {
      const values = await settings.guild(member.guild).get();
      const kinds = only === undefined ? KINDS : [only];
      const lines = kinds.flatMap((kind) => {
        const texts = values[TEXTS[kind]];
        if (texts.length === 0) return [];
        return [
          `**${nameOf(kind)}**`,
          ...texts.map((text, index) => `${index + 1}. ${fillIn(translated(text), arrivalOf(member))}`),
        ];
      });
      return lines.length === 0 ? t('There are no texts of that kind.') : lines.join('\n');
    },
  };

  /** A warning if Discord sends no joins and leaves because the bot lacks the members intent; otherwise empty. */
  function missingIntent(): readonly string[] {
    if (client.options.intents.has('GuildMembers')) return [];
    return [
      `⚠️ ${t('I do not hear of new members: the owner of the bot has to allow me the intent Server Members, in the Developer Portal and in my configuration (`intents`).')}`,
    ];
  }
}

function nameOf(kind: Kind): string {
  switch (kind) {
    case 'greeting':
      return t('Greeting in the channel');
    case 'direct':
      return t('Greeting by direct message');
    case 'goodbye':
      return t('Goodbye');
    case 'bot':
      return t('When a bot is added');
  }
}
