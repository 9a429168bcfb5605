import { type APIMessage, ButtonStyle, ComponentType } from 'discord-api-types/v10';
import { type Choice, channelChoices, memberChoices, roleChoices } from './choices';
import { Link, Markdown } from './markdown';
import { colourStyle, FileLink, mediumOf, Picture } from './media';
import { type Store, useStillStore } from './store';
import { t } from './texts';

/** A component of any kind, as received. */
export interface AnyComponent {
  type: number;
  [key: string]: unknown;
}

function isComponent(value: unknown): value is AnyComponent {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'number';
}

export function componentsIn(value: unknown): readonly AnyComponent[] {
  return Array.isArray(value) ? value.filter(isComponent) : [];
}

const words = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Buttons, menus and the layout of messages with components. */
export function Components({ message }: { message: APIMessage }) {
  return <Rows message={message} list={componentsIn(message.components)} />;
}

function Rows({ message, list }: { message: APIMessage; list: readonly AnyComponent[] }) {
  return (
    <>
      {list.map((component, index) => (
        <One key={words(component.custom_id) || index} message={message} component={component} />
      ))}
    </>
  );
}

function One({ message, component }: { message: APIMessage; component: AnyComponent }) {
  const inner = () => <Rows message={message} list={componentsIn(component.components)} />;
  switch (component.type) {
    case ComponentType.ActionRow:
      return <div class="row">{inner()}</div>;
    case ComponentType.Button:
      return <Button message={message} component={component} />;
    case ComponentType.StringSelect:
    case ComponentType.UserSelect:
    case ComponentType.RoleSelect:
    case ComponentType.MentionableSelect:
    case ComponentType.ChannelSelect:
      return <MessageSelect message={message} component={component} />;
    case ComponentType.TextDisplay:
      return <Markdown text={words(component.content)} />;
    case ComponentType.Separator:
      return component.divider === false ? <div class="gap" /> : <hr />;
    case ComponentType.Container:
      return (
        <div class="embed" style={colourStyle(component.accent_color)}>
          {inner()}
        </div>
      );
    case ComponentType.Section:
      return (
        <div class="section">
          <div>{inner()}</div>
          <Rows message={message} list={componentsIn([component.accessory])} />
        </div>
      );
    case ComponentType.Thumbnail:
      return <Medium message={message} item={component} class="thumbnail" />;
    case ComponentType.MediaGallery:
      return (
        <div class="gallery">
          {Array.isArray(component.items) &&
            component.items.map((item: unknown, index) => <Medium key={index} message={message} item={item} />)}
        </div>
      );
    case ComponentType.File:
      return <FileLink file={mediumOf(message, component, 'file').file} />;
    default:
      return null;
  }
}

/** A picture in a component: one of the message's files, or an address. */
function Medium({ message, item, class: look }: { message: APIMessage; item: unknown; class?: string }) {
  if (typeof item !== 'object' || item === null) return null;
  const { url, file } = mediumOf(message, item, 'media');
  const name = 'description' in item ? words(item.description) : '';
  return <Picture url={url} name={name || file?.filename || t('picture')} class={look} />;
}

const LOOKS: Readonly<Record<number, string>> = {
  [ButtonStyle.Primary]: 'primary',
  [ButtonStyle.Success]: 'success',
  [ButtonStyle.Danger]: 'danger',
};

function Button({ message, component }: { message: APIMessage; component: AnyComponent }) {
  const store = useStillStore();
  const { emoji } = component;
  const picture = typeof emoji === 'object' && emoji !== null && 'name' in emoji ? `${String(emoji.name)} ` : '';
  const label = `${picture}${words(component.label)}`.trim() || t('button');
  if (component.style === ButtonStyle.Link) return <Link href={words(component.url)}>{label}</Link>;
  return (
    <button
      type="button"
      class={LOOKS[Number(component.style)] ?? ''}
      disabled={component.disabled === true}
      onClick={() =>
        void store.try({
          act: 'click',
          channel: message.channel_id,
          message: message.id,
          button: words(component.custom_id),
        })
      }
    >
      {label}
    </button>
  );
}

/** The choices of a menu of any kind. */
export function choicesOf(component: AnyComponent, store: Store): (Choice & { isDefault?: boolean })[] {
  switch (component.type) {
    case ComponentType.UserSelect:
      return memberChoices(store);
    case ComponentType.RoleSelect:
      return roleChoices(store);
    case ComponentType.MentionableSelect:
      return [...memberChoices(store), ...roleChoices(store)];
    case ComponentType.ChannelSelect:
      return channelChoices(store, numbersIn(component.channel_types));
    default:
      return optionsIn(component.options);
  }
}

const numbersIn = (value: unknown): number[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'number') : [];

function optionsIn(options: unknown) {
  if (!Array.isArray(options)) return [];
  return options.flatMap((option: unknown) => {
    if (typeof option !== 'object' || option === null || !('value' in option) || !('label' in option)) return [];
    const more = 'description' in option && option.description ? `: ${String(option.description)}` : '';
    const isDefault = 'default' in option && option.default === true;
    return [{ value: String(option.value), label: `${String(option.label)}${more}`, isDefault }];
  });
}

/** In a single-choice menu the value is sent at once; otherwise all values are sent together. */
function MessageSelect({ message, component }: { message: APIMessage; component: AnyComponent }) {
  const store = useStillStore();
  const choices = choicesOf(component, store);
  const isMultiple = Number(component.max_values ?? 1) > 1;
  const label = words(component.placeholder) || t('Choose');
  const send = (values: string[]) =>
    void store.try({
      act: 'select',
      channel: message.channel_id,
      message: message.id,
      menu: words(component.custom_id),
      values,
    });
  if (!isMultiple)
    return (
      <select
        aria-label={label}
        disabled={component.disabled === true}
        onKeyDown={(event) => {
          // In a closed menu, arrow keys and letters would immediately choose every value that they pass.
          if (['Tab', 'Escape', 'Shift'].includes(event.key) || event.ctrlKey || event.metaKey) return;
          if (!('showPicker' in event.currentTarget)) return;
          event.preventDefault();
          event.currentTarget.showPicker();
        }}
        onChange={({ currentTarget }) => currentTarget.value && send([currentTarget.value])}
      >
        <option value="">{label}</option>
        {choices.map(({ value, label: name, isDefault }) => (
          <option key={value} value={value} selected={isDefault}>
            {name}
          </option>
        ))}
      </select>
    );
  return (
    <form
      class="several"
      onSubmit={(event) => {
        event.preventDefault();
        const chosen = new FormData(event.currentTarget).getAll('value').map(String);
        send(chosen);
      }}
    >
      <fieldset disabled={component.disabled === true}>
        <legend>{label}</legend>
        {choices.map(({ value, label: name, isDefault }) => (
          <label key={value}>
            <input type="checkbox" name="value" value={value} defaultChecked={isDefault} /> {name}
          </label>
        ))}
        <button type="submit">{t('Choose')}</button>
      </fieldset>
    </form>
  );
}
