import { type APIEmbed, type APIMessage, type APIReaction, MessageFlags, MessageType } from 'discord-api-types/v10';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Components } from './components';
import { Link, Markdown } from './markdown';
import { colourStyle, FileLink, Picture } from './media';
import { useStillStore, withNames } from './store';
import { t } from './texts';

const EMOJI = ['👍', '👎', '❤️', '😂', '🎉', '😮', '😢', '🙏', '👀', '✅', '❌', '🔥', '🚀', '🤔', '👋', '💯'];

/** A message; the author's name is shown only on the first of a group. */
export function Message({ message, isFirst }: { message: APIMessage; isFirst: boolean }) {
  const store = useStillStore();
  const { author, flags = 0 } = message;
  const isEphemeral = (flags & MessageFlags.Ephemeral) !== 0;
  const isLoading = (flags & MessageFlags.Loading) !== 0;
  const name = store.nameOf(author.id) ?? author.global_name ?? author.username;
  const me = store.world?.me.id;
  const isForMe = message.mentions.some(({ id }) => id === me) || message.mention_everyone;
  const time = new Date(message.timestamp);
  const starts = isFirst || message.referenced_message !== undefined || message.interaction_metadata !== undefined;
  return (
    <li
      class={`message${starts ? ' first' : ''}${isForMe ? ' for-me' : ''}${isEphemeral ? ' ephemeral' : ''}`}
      data-id={message.id}
      aria-label={`${name}, ${time.toLocaleTimeString(undefined, { timeStyle: 'short' })}`}
    >
      <Answered message={message} />
      {starts && <Avatar id={author.id} name={name} />}
      {starts && (
        <p class="author">
          <strong>
            <bdi>{name}</bdi>
          </strong>
          {author.bot && <span class="badge">{t('bot')}</span>}
          <time dateTime={message.timestamp} title={time.toLocaleString()}>
            {time.toLocaleString(undefined, { hour: '2-digit', minute: '2-digit', day: 'numeric', month: 'short' })}
          </time>
        </p>
      )}
      <div class="content">
        {isLoading ? (
          <p class="quiet thinking">{t('{name} is thinking …', { name })}</p>
        ) : (
          <Words message={message} name={name} />
        )}
        {message.edited_timestamp && !isLoading && <small class="edited">{t('(edited)')}</small>}
        {message.embeds.map((embed, index) => (
          <Embed key={index} embed={embed} />
        ))}
        <Attachments message={message} />
        <Components message={message} />
        <Reactions message={message} />
        {message.thread && (
          <button type="button" class="thread" onClick={() => void store.show(message.thread?.id ?? '')}>
            {t('Thread: {name}', { name: message.thread.name ?? '' })}
          </button>
        )}
        {isEphemeral && <small class="quiet">{t('Only you can see this.')}</small>}
      </div>
      {!isLoading && <Actions message={message} isOwn={author.id === me} isEphemeral={isEphemeral} />}
    </li>
  );
}

function Words({ message, name }: { message: APIMessage; name: string }) {
  if (message.type === MessageType.ChannelPinnedMessage)
    return <p class="quiet">{t('{name} pinned a message to this channel.', { name })}</p>;
  return message.content === '' ? null : <Markdown text={message.content} />;
}

const HUES = 12;

export function Avatar({ id, name }: { id: string; name: string }) {
  const hue = Number(BigInt(id) % BigInt(HUES));
  return (
    <span class={`avatar hue${hue}`} aria-hidden="true">
      {[...name][0]?.toUpperCase()}
    </span>
  );
}

function Answered({ message }: { message: APIMessage }) {
  const store = useStillStore();
  const { referenced_message: to, interaction } = message;
  if (interaction)
    return (
      <p class="answered">
        ↳ {t('{name} used', { name: store.nameOf(interaction.user.id) ?? interaction.user.username })}{' '}
        <b>/{interaction.name}</b>
      </p>
    );
  if (to === undefined) return null;
  if (to === null) return <p class="answered">↳ {t('the message was deleted')}</p>;
  return (
    <p class="answered">
      ↳ <b>{store.nameOf(to.author.id) ?? to.author.username}</b>{' '}
      {withNames(to.content, store).slice(0, 120) || t('a message without text')}
    </p>
  );
}

function Embed({ embed }: { embed: APIEmbed }) {
  return (
    <article class={embed.thumbnail ? 'embed beside' : 'embed'} style={colourStyle(embed.color)}>
      {embed.thumbnail && <Picture url={embed.thumbnail.url} name={t('picture')} class="thumbnail" />}
      {embed.author && <p class="small">{embed.author.name}</p>}
      {embed.title && (
        <p class="title">{embed.url ? <Link href={embed.url}>{embed.title}</Link> : <Markdown text={embed.title} />}</p>
      )}
      {embed.description && <Markdown text={embed.description} />}
      {embed.fields && (
        <dl>
          {embed.fields.map((field, index) => (
            <div key={index} class={field.inline ? 'inline' : ''}>
              <dt>{field.name}</dt>
              <dd>
                <Markdown text={field.value} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      {embed.image && <Picture url={embed.image.url} name={t('picture')} />}
      {(embed.footer || embed.timestamp) && (
        <p class="small">
          {[embed.footer?.text, embed.timestamp && new Date(embed.timestamp).toLocaleString()]
            .filter(Boolean)
            .join(' · ')}
        </p>
      )}
    </article>
  );
}

/** If a message has components, they show its files. */
function Attachments({ message }: { message: APIMessage }) {
  if (((message.flags ?? 0) & MessageFlags.IsComponentsV2) !== 0) return null;
  return (
    <>
      {message.attachments.map((file) =>
        file.content_type?.startsWith('image/') ? (
          <Picture key={file.id} url={file.url} name={file.description ?? file.filename} />
        ) : (
          <FileLink key={file.id} file={file} />
        ),
      )}
    </>
  );
}

const emojiOf = ({ emoji }: APIReaction) => (emoji.id ? `${emoji.name}:${emoji.id}` : (emoji.name ?? ''));

function Reactions({ message }: { message: APIMessage }) {
  const store = useStillStore();
  if (!message.reactions?.length) return null;
  return (
    <div class="row">
      {message.reactions.map((reaction) => (
        <button
          key={emojiOf(reaction)}
          type="button"
          class="reaction"
          aria-pressed={reaction.me}
          aria-label={`${reaction.emoji.name}, ${reaction.count}`}
          onClick={() =>
            void store.try({
              act: reaction.me ? 'unreact' : 'react',
              channel: message.channel_id,
              message: message.id,
              emoji: emojiOf(reaction),
            })
          }
        >
          {reaction.emoji.id ? `:${reaction.emoji.name}:` : reaction.emoji.name} <span>{reaction.count}</span>
        </button>
      ))}
    </div>
  );
}

function Actions({ message, isOwn, isEphemeral }: { message: APIMessage; isOwn: boolean; isEphemeral: boolean }) {
  const store = useStillStore();
  const [isPicking, pick] = useState(false);
  const [isNaming, name] = useState(false);
  const [isDeleting, ask] = useState(false);
  const target = { channel: message.channel_id, message: message.id };
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (isPicking || isNaming || isDeleting) box.current?.querySelector<HTMLElement>('.first, button')?.focus();
  }, [isPicking, isNaming, isDeleting]);
  if (isEphemeral) return null;
  const close = () => {
    pick(false);
    name(false);
    ask(false);
  };
  const start = (act: 'replyTo' | 'editing') => {
    store.replyTo = undefined;
    store.editing = undefined;
    store[act] = message;
    store.changed();
    document.getElementById('composer')?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape comes from what stands in it
    <div
      ref={box}
      class={isPicking || isNaming || isDeleting ? 'actions open' : 'actions'}
      onKeyDown={({ key, currentTarget }) => {
        if (key !== 'Escape') return;
        currentTarget.querySelector<HTMLElement>('[aria-expanded="true"]')?.focus();
        close();
      }}
      onFocusOut={({ relatedTarget, currentTarget }) => {
        if (relatedTarget instanceof Node && !currentTarget.contains(relatedTarget)) close();
      }}
    >
      {isDeleting && (
        <span class="question">
          {t('Delete this message?')}
          <button type="button" class="danger first" onClick={() => void store.try({ act: 'delete', ...target })}>
            {t('Delete it')}
          </button>
        </span>
      )}
      {isNaming && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            const named = String(new FormData(event.currentTarget).get('name'));
            void store.enter({ act: 'startThread', ...target, name: named }).then((done) => name(!done));
          }}
        >
          <input
            name="name"
            class="first"
            required
            aria-label={t('Name of the thread')}
            placeholder={t('Name of the thread, Enter')}
          />
        </form>
      )}
      {isPicking &&
        EMOJI.map((emoji) => (
          <button
            key={emoji}
            type="button"
            class="plain"
            aria-label={t('React with {emoji}', { emoji })}
            onClick={() => {
              pick(false);
              void store.try({ act: 'react', ...target, emoji });
            }}
          >
            {emoji}
          </button>
        ))}
      {isPicking && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            const emoji = String(new FormData(event.currentTarget).get('emoji')).trim();
            void store.try({ act: 'react', ...target, emoji }).then((done) => pick(!done));
          }}
        >
          <input
            name="emoji"
            class="other-emoji"
            required
            autocomplete="off"
            aria-label={t('Another emoji')}
            placeholder={t('Another emoji')}
          />
        </form>
      )}
      <button
        type="button"
        class="plain"
        aria-expanded={isPicking}
        onClick={() => {
          pick(!isPicking);
          name(false);
          ask(false);
        }}
      >
        {t('React')}
      </button>
      <button type="button" class="plain" onClick={() => start('replyTo')}>
        {t('Reply')}
      </button>
      {!message.thread && store.guild && (
        <button
          type="button"
          class="plain"
          aria-expanded={isNaming}
          onClick={() => {
            name(!isNaming);
            pick(false);
            ask(false);
          }}
        >
          {t('Thread')}
        </button>
      )}
      {isOwn && (
        <button type="button" class="plain" onClick={() => start('editing')}>
          {t('Edit')}
        </button>
      )}
      {(isOwn || store.channel?.moderated) && (
        <button
          type="button"
          class="plain"
          aria-expanded={isDeleting}
          onClick={() => {
            ask(!isDeleting);
            pick(false);
            name(false);
          }}
        >
          {t('Delete')}
        </button>
      )}
    </div>
  );
}
