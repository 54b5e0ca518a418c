/* SPDX-License-Identifier: Apache-2.0 */
#include "svg.h"

/*
 * The colours of series differ in lightness as well as in hue, so that they differ for the colour
 * blind too, and have a contrast of 3 or more to 1 with the paper, which is what WCAG 2.1 asks of
 * graphics (success criterion 1.4.11). Colours are written out, not as variables: programs other
 * than browsers that draw SVG know no variables.
 */

struct colour {
    const char *selector, *property, *light, *dark;
};

static const struct colour colours[] = {
    {"", "color", "#22282e", "#dde3e8"},
    {" text", "fill", "#22282e", "#dde3e8"},
    {" .quiet", "fill", "#5a646e", "#a3adb7"},
    {" .paper", "fill", XB_PLOT_PAPER_LIGHT, XB_PLOT_PAPER_DARK},
    {" .grid", "stroke", "#e4e8ec", "#2a3139"},
    {" .axis", "stroke", "#8a949e", "#76818c"},
    {" .level", "stroke", "#5a646e", "#a3adb7"},
    {" .mark", "stroke", "#b3261e", "#ff8a80"},
    {" .hollow", "fill", XB_PLOT_PAPER_LIGHT, XB_PLOT_PAPER_DARK},
    {" .halo", "stroke", XB_PLOT_PAPER_LIGHT, XB_PLOT_PAPER_DARK},
    {" .stripe", "fill", "#f5f7f9", "#1a2027"},
    {" .node", "fill", "#f5f7f9", "#1f262e"},
    {" .series-1", "color", "#0072b2", "#56b4e9"},
    {" .series-2", "color", "#d55e00", "#f0803c"},
    {" .series-3", "color", "#007a5a", "#2fc29a"},
    {" .series-4", "color", "#a8489a", "#dc96d0"},
    {" .series-5", "color", "#806400", "#e6c229"},
    {" .series-6", "color", "#454c54", "#c4ccd4"},
    {" .series-7", "color", "#8a1f4f", "#f2849e"},
    {" .series-8", "color", "#3a7fd0", "#a9c8f5"},
    {" .good", "color", "#00735a", "#2fc29a"},
    {" .bad", "color", "#b3261e", "#ff8a80"},
    {" .unsure", "color", "#806400", "#e6c229"},
    {" .step-1 rect", "fill", "#f0f5fa", "#1c2a38"},
    {" .step-2 rect", "fill", "#d5e4f2", "#1f3f5c"},
    {" .step-3 rect", "fill", "#aecce6", "#225580"},
    {" .step-4 rect", "fill", "#7fafd8", "#2a6aa2"},
    {" .step-5 rect", "fill", "#3274ae", "#6aa8da"},
    {" .step-6 rect", "fill", "#1c5c98", "#98c6ea"},
    {" .step-7 rect", "fill", "#0b3f78", "#c8e2f6"},
    {" .step-1 text", "fill", "#15202b", "#f2f6fa"},
    {" .step-2 text", "fill", "#15202b", "#f2f6fa"},
    {" .step-3 text", "fill", "#15202b", "#f2f6fa"},
    {" .step-4 text", "fill", "#15202b", "#f2f6fa"},
    {" .step-5 text", "fill", "#ffffff", "#10181f"},
    {" .step-6 text", "fill", "#ffffff", "#10181f"},
    {" .step-7 text", "fill", "#ffffff", "#10181f"},
};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const char *const rules[] = {
    " text{font-variant-numeric:tabular-nums}",
    " .strong{font-weight:600}",
    " .grid{stroke-width:1;fill:none}",
    " .axis{stroke-width:1;fill:none}",
    " .level{stroke-width:1.3;stroke-dasharray:7 4;fill:none}",
    " .mark{stroke-width:1.5;stroke-dasharray:2 3;fill:none}",
    " .line{stroke:currentColor;stroke-width:2;fill:none}",
    " .line{stroke-linejoin:round;stroke-linecap:round}",
    " .series-2 .line{stroke-dasharray:9 4}",
    " .series-3 .line{stroke-dasharray:2 4}",
    " .series-4 .line{stroke-dasharray:9 4 2 4}",
    " .series-6 .line{stroke-dasharray:9 4}",
    " .series-7 .line{stroke-dasharray:2 4}",
    " .series-8 .line{stroke-dasharray:9 4 2 4}",
    " .whisker{stroke:currentColor;stroke-width:1.5;fill:none}",
    " .interval{stroke:currentColor;stroke-width:5;stroke-opacity:.45;fill:none}",
    " .dots{stroke:currentColor;stroke-width:3;stroke-opacity:.55;fill:none}",
    " .dots{stroke-linecap:round}",
    " .cells{stroke:currentColor;stroke-width:4;fill:none}",
    " .cells-1{stroke-opacity:.5}",
    " .cells-2{stroke-opacity:.7}",
    " .cells-3{stroke-opacity:.9}",
    " .marker{fill:currentColor;stroke:currentColor;stroke-width:1.5}",
    " .ring{fill:none;stroke:currentColor;stroke-width:2}",
    " .band{fill:currentColor;fill-opacity:.16;stroke:none}",
    " .span{fill:currentColor}",
    " .wait{fill:currentColor;fill-opacity:.16}",
    " .wait{stroke:currentColor;stroke-width:1;stroke-dasharray:2 2}",
    " .node{stroke:currentColor;stroke-width:1.2}",
    " .edge{stroke:currentColor;stroke-width:2;fill:none}",
    " .bad .node{stroke-width:2.5}",
    " .bad .edge{stroke-width:5}",
    " .unsure .edge{stroke-dasharray:6 4}",
    " .unsure .node{stroke-dasharray:6 4}",
    " .halo{stroke-width:4;stroke-linejoin:round;paint-order:stroke}",
    " .edge-name,.plot .bad text,.plot .unsure text,.plot .good text{fill:currentColor}",
};

/* A hollow marker is a marker too, and a later rule of equal weight wins: colours come last. */
void xb_plot_style(FILE *stream)
{
    /* Fonts that systems have: none is fetched. */
    fputs(".plot text{font:13px system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\","
          "Arial,\"DejaVu Sans\",sans-serif}\n",
          stream);
    for (size_t i = 0; i < COUNT_OF(rules); i++)
        fprintf(stream, ".plot%s\n", rules[i]);
    for (size_t i = 0; i < COUNT_OF(colours); i++)
        fprintf(stream, ".plot%s{%s:%s}\n", colours[i].selector, colours[i].property,
                colours[i].light);
    fputs("@media screen and (prefers-color-scheme:dark){\n", stream);
    for (size_t i = 0; i < COUNT_OF(colours); i++)
        fprintf(stream, ".plot%s{%s:%s}\n", colours[i].selector, colours[i].property,
                colours[i].dark);
    fputs("}\n", stream);
}
