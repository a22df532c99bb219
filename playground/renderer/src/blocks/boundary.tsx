/** Where a fault in drawing one block ends. */

import { Component, type ComponentChildren } from "preact";

interface Props {
  /** Is what is drawn: another one is tried anew. */
  readonly of: unknown;
  readonly children: ComponentChildren;
}

/** Draws one block, or a line in its place if that fails, so that the rest of the document is still there. */
export class Boundary extends Component<Props, { failed?: unknown }> {
  override state: { failed?: unknown } = {};

  override componentDidCatch(): void {
    this.setState({ failed: this.props.of });
  }

  override render({ of, children }: Props) {
    return this.state.failed === of ? <Fallback>This part can't be shown.</Fallback> : children;
  }
}

/** Says in a line that there is something that can't be shown. */
export function Fallback({ children }: { children: ComponentChildren }) {
  return <p class="p-b-fallback">{children}</p>;
}
