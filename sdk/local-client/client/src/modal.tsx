import { ComponentType, TextInputStyle } from 'discord-api-types/v10';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { type AnyComponent, choicesOf, componentsIn } from './components';
import { Markdown } from './markdown';
import { useStore } from './store';
import { t } from './texts';

const words = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The form with which a bot has answered. */
export function Modal() {
  const store = useStore();
  const dialog = useRef<HTMLDialogElement>(null);
  const open = store.modal;
  useLayoutEffect(() => {
    if (open && dialog.current && !dialog.current.open) dialog.current.showModal();
  }, [open]);
  if (open === undefined) return null;
  const close = () => {
    store.modal = undefined;
    store.changed();
  };
  const send = async (form: HTMLFormElement) => {
    const data = new FormData(form);
    const fields: Record<string, string | string[]> = {};
    for (const key of new Set(data.keys())) {
      const field = form.elements.namedItem(key);
      const isText =
        field instanceof HTMLTextAreaElement || (field instanceof HTMLInputElement && field.type === 'text');
      fields[key] = isText ? String(data.get(key)) : data.getAll(key).map(String).filter(Boolean);
    }
    if (await store.try({ act: 'submit', interaction: open.interaction, fields })) close();
  };
  return (
    <dialog ref={dialog} aria-labelledby="modal-title" onClose={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send(event.currentTarget);
        }}
      >
        <h2 id="modal-title">{open.modal.title}</h2>
        {componentsIn(open.modal.components).map((component, index) => (
          <Field key={index} component={component} />
        ))}
        {store.notice && (
          <p role="alert" class="notice">
            {store.notice}
          </p>
        )}
        <div class="row end">
          <button type="button" onClick={() => dialog.current?.close()}>
            {t('Cancel')}
          </button>
          <button type="submit" class="primary">
            {t('Submit')}
          </button>
        </div>
      </form>
    </dialog>
  );
}

function Field({ component }: { component: AnyComponent }) {
  const store = useStore();
  if (component.type === ComponentType.TextDisplay) return <Markdown text={words(component.content)} />;
  const [inner] =
    component.type === ComponentType.Label ? componentsIn([component.component]) : componentsIn(component.components);
  if (inner === undefined) return null;
  const name = words(inner.custom_id);
  const label = (
    <>
      {words(component.label) || words(inner.label)}
      {inner.required !== false && <span aria-hidden="true"> *</span>}
    </>
  );
  const description = words(component.description) && <small>{words(component.description)}</small>;
  if (inner.type !== ComponentType.TextInput && Number(inner.max_values ?? 1) > 1)
    return (
      <fieldset class="several">
        <legend>{label}</legend>
        {description}
        {choicesOf(inner, store).map(({ value, label: choice, isDefault }) => (
          <label key={value}>
            <input type="checkbox" name={name} value={value} defaultChecked={isDefault} /> {choice}
          </label>
        ))}
      </fieldset>
    );
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the input stands inside
    <label class="field">
      <span>{label}</span>
      {description}
      <Input component={inner} name={name} />
    </label>
  );
}

function Input({ component, name }: { component: AnyComponent; name: string }) {
  const store = useStore();
  const required = component.required !== false;
  if (component.type !== ComponentType.TextInput)
    return (
      <select name={name} required={required}>
        <option value="">{words(component.placeholder)}</option>
        {choicesOf(component, store).map(({ value, label, isDefault }) => (
          <option key={value} value={value} selected={isDefault}>
            {label}
          </option>
        ))}
      </select>
    );
  const common = {
    name,
    required,
    placeholder: words(component.placeholder),
    minLength: Number(component.min_length ?? 0),
    maxLength: Number(component.max_length ?? 4_000),
    defaultValue: words(component.value),
  };
  return component.style === TextInputStyle.Paragraph ? (
    <textarea rows={4} {...common} />
  ) : (
    <input type="text" {...common} />
  );
}
