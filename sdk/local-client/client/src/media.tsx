import type { APIAttachment, APIMessage } from 'discord-api-types/v10';
import { Link } from './markdown';

interface PictureProps {
  url: string;
  /** Alternative text for screen readers. */
  name: string;
  class?: string | undefined;
}

/** Pictures of this server are shown; others are not loaded. */
export function Picture({ url, name, class: look }: PictureProps) {
  if (URL.canParse(url) && new URL(url).origin === location.origin) return <img src={url} alt={name} class={look} />;
  return <Link href={url}>{name}</Link>;
}

export function FileLink({ file }: { file: APIAttachment | undefined }) {
  if (file === undefined) return null;
  return (
    <p class="file">
      <Link href={file.url}>{file.filename}</Link> <small>{Math.ceil(file.size / 1024)} KiB</small>
    </p>
  );
}

/** The file of a component: an address, and the message's own file if it is one. */
export function mediumOf(message: APIMessage, item: object, key: 'media' | 'file') {
  const medium: unknown = Object.entries(item).find(([name]) => name === key)?.[1];
  if (typeof medium !== 'object' || medium === null || !('url' in medium)) return { url: '', file: undefined };
  const id = 'attachment_id' in medium ? medium.attachment_id : undefined;
  return { url: String(medium.url), file: message.attachments.find((file) => file.id === id) };
}

/** The edge of an embed or a container in its author's colour. */
export function colourStyle(colour: unknown): Record<string, string> {
  return typeof colour === 'number' ? { '--edge': `#${colour.toString(16).padStart(6, '0')}` } : {};
}
