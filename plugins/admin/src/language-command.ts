import { currentLocale, type LanguageChoice, option, requireGuildId, subcommand, t, UserError } from '@cinnabar/sdk';
import { LRUCache } from 'lru-cache';
import type { AdminContext } from './context.js';
import { suggestFrom } from './format.js';

/** Maximum number of cached choices of members and servers. */
const REMEMBERED = 5_000;

const AUTOMATIC = 'auto';

/** `!language`: the language in which the bot writes to a member, and in a server. */
export function registerLanguage(context: AdminContext): void {
  const { group, settings, services } = context;
  context.defer(services.languages.chooseBy(rememberedChoices(context)));

  const chosen = option
    .suggested(suggestFrom(() => [AUTOMATIC, ...services.languages.available]))
    .describe('A language, such as de, or auto');
  const check = (wanted: string): string | undefined => {
    const locale = wanted.trim();
    if (locale.toLowerCase() === AUTOMATIC) return undefined;
    const found = services.languages.available.find((known) => known.toLowerCase() === locale.toLowerCase());
    if (found !== undefined) return found;
    const known = services.languages.available.map((one) => `\`${one}\``).join(', ');
    throw new UserError(t('I do not speak that language. I speak {known}.', { known }));
  };

  group({
    name: 'language',
    description: 'Choose the language that the bot writes in',
    commands: [
      subcommand({
        name: 'show',
        description: 'Show which language the bot writes in here',
        async run(ctx) {
          const own = (await settings.user(ctx.user).get()).language ?? AUTOMATIC;
          const ofGuild =
            ctx.guild === null ? AUTOMATIC : ((await settings.guild(ctx.guild).get()).language ?? AUTOMATIC);
          await ctx.reply(
            t('I write to you in {current}. Your choice: {own}. Of this server: {ofGuild}.', {
              current: nameOf(currentLocale()),
              own,
              ofGuild,
            }),
          );
        },
      }),
      subcommand({
        name: 'me',
        description: 'Choose the language in which the bot writes to you',
        options: { language: chosen },
        async run(ctx, { language }) {
          const locale = check(language);
          if (locale === undefined) await settings.user(ctx.user).reset('language');
          else await settings.user(ctx.user).set({ language: locale });
          await services.languages.speak({ guildId: ctx.actor.guildId, userId: ctx.user.id }, () =>
            ctx.reply(t('From now on I write to you in {language}.', { language: nameOf(currentLocale()) })),
          );
        },
      }),
      subcommand({
        name: 'server',
        description: 'Choose the language of this server, for members who have not chosen one',
        access: { tier: 'admin', where: 'guild' },
        options: { language: chosen },
        async run(ctx, { language }) {
          const locale = check(language);
          const guildId = requireGuildId(ctx.actor);
          if (locale === undefined) await settings.guild(guildId).reset('language');
          else await settings.guild(guildId).set({ language: locale });
          await services.languages.speak({ guildId }, () =>
            ctx.reply(t('From now on I write in {language} here.', { language: nameOf(currentLocale()) })),
          );
        },
      }),
    ],
  });
}

/** The choices of members and servers, cached in memory. */
function rememberedChoices({ settings, settingsChanged }: AdminContext): LanguageChoice {
  const known = new LRUCache<string, { readonly locale: string | undefined }>({ max: REMEMBERED });
  let changes = 0;
  settingsChanged(() => {
    changes += 1;
    known.clear();
  });
  const read = async (key: string, get: () => Promise<{ language?: string | undefined }>) => {
    const before = changes;
    const { language } = await get();
    if (changes === before) known.set(key, { locale: language });
    return language;
  };

  return ({ guildId, userId }, shown) => {
    const own = userId === undefined ? NONE : known.get(userId);
    const ofGuild = guildId === null ? NONE : known.get(guildId);
    if (own !== undefined && ofGuild !== undefined) return own.locale ?? shown ?? ofGuild.locale;
    return (async () => {
      const chosen = userId === undefined ? undefined : await read(userId, () => settings.user(userId).get());
      const guilds = guildId === null ? undefined : await read(guildId, () => settings.guild(guildId).get());
      return chosen ?? shown ?? guilds;
    })();
  };
}

const NONE = { locale: undefined };

/** The name of a language in that language: `Deutsch`. */
function nameOf(locale: string): string {
  return new Intl.DisplayNames([locale], { type: 'language' }).of(locale) ?? locale;
}
