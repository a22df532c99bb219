/** A control that switches between datasets. */

import type { SegmentedElement } from "@parley/client/v1/blocks";
import { useId, useState } from "preact/hooks";

/** What a control is drawn with. */
export interface SegmentedProps {
  readonly element: SegmentedElement;
  /** Is the title of what is switched, empty if it has none. */
  readonly label: string;
  /** Is the dataset that is shown now. */
  readonly shown: string | undefined;
  readonly canShow: (data: string) => boolean;
  readonly onShow: (data: string) => void;
}

/** Switches a chart or a table between datasets. Follows when something else switches it. */
export function Segmented({ element, label, shown, canShow, onShow }: SegmentedProps) {
  const name = useId();
  const [picked, setPicked] = useState(-1);
  const { options } = element;
  // Two options may name the same dataset: then the one that was picked is it.
  const checked =
    options[picked]?.data === shown ? picked : options.findIndex(({ data }) => data === shown);
  return (
    <fieldset class="p-b-segmented">
      <legend class="p-b-hidden">{label === "" ? "Data to show" : `Data of ${label}`}</legend>
      {options.map((option, at) => (
        <label key={at}>
          <input
            type="radio"
            name={name}
            checked={at === checked}
            disabled={!canShow(option.data)}
            onChange={() => {
              setPicked(at);
              onShow(option.data);
            }}
          />
          <span>{option.label}</span>
        </label>
      ))}
    </fieldset>
  );
}
