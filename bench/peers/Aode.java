// WEKA's AODE: `java -cp weka.jar peers/Aode.java FILE ROWS FRESH COLUMNS VALUES CLASSES [warm]` reads the rows (raw little-endian f64,
// row after row, codes, the class last), times the cross-validation on ten folds dealt in turn and one fit together, and prints one
// line of JSON for the harness. With `warm` all of it is done once before it is timed, so that its code is compiled.

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Locale;
import weka.classifiers.bayes.AODE;
import weka.core.Attribute;
import weka.core.FastVector;
import weka.core.Instance;
import weka.core.Instances;
import weka.core.Version;

public class Aode {
    private static final int FOLDS = 10;

    public static void main(String[] arguments) throws Exception {
        int columns = Integer.parseInt(arguments[3]);
        Instances rows =
                read(arguments[0], columns, Integer.parseInt(arguments[4]), Integer.parseInt(arguments[5]));
        if (arguments.length > 6) {
            crossValidate(rows);
        }
        double[] started = {System.nanoTime(), processor()};
        double[] quality = crossValidate(rows);
        long fitStarted = System.nanoTime();
        new AODE().buildClassifier(rows);
        double fit = (System.nanoTime() - fitStarted) / 1e9;
        double seconds = (System.nanoTime() - started[0]) / 1e9;
        double cpu = (processor() - started[1]) / 1e9;
        System.out.printf(
                Locale.ROOT,
                "{\"seconds\": %.6f, \"cpu_seconds\": %.6f, \"peak_mb\": %.1f, \"version\": \"WEKA %s\", "
                        + "\"quality\": {\"error\": %.6f, \"log loss\": %.6f, \"fit s\": %.6f}}%n",
                seconds, cpu, peak(), Version.VERSION, quality[0], quality[1], fit);
    }

    private static Instances read(String file, int columns, int values, int classes) throws Exception {
        FastVector attributes = new FastVector();
        for (int j = 0; j < columns; j++) {
            FastVector levels = new FastVector();
            for (int v = 0; v < (j == columns - 1 ? classes : values); v++) {
                levels.addElement("v" + v);
            }
            attributes.addElement(new Attribute("a" + j, levels));
        }
        ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(Paths.get(file))).order(ByteOrder.LITTLE_ENDIAN);
        int count = bytes.remaining() / 8 / columns;
        Instances rows = new Instances("rows", attributes, count);
        rows.setClassIndex(columns - 1);
        for (int i = 0; i < count; i++) {
            double[] cells = new double[columns];
            for (int j = 0; j < columns; j++) {
                cells[j] = bytes.getDouble();
            }
            rows.add(new Instance(1.0, cells));
        }
        return rows;
    }

    /** The error and the mean log loss of the rows held out. */
    private static double[] crossValidate(Instances rows) throws Exception {
        double wrong = 0;
        double loss = 0;
        for (int fold = 0; fold < FOLDS; fold++) {
            Instances train = new Instances(rows, rows.numInstances());
            for (int i = 0; i < rows.numInstances(); i++) {
                if (i % FOLDS != fold) {
                    train.add(rows.instance(i));
                }
            }
            AODE classifier = new AODE();
            classifier.buildClassifier(train);
            for (int i = fold; i < rows.numInstances(); i += FOLDS) {
                double[] chances = classifier.distributionForInstance(rows.instance(i));
                int best = 0;
                for (int c = 1; c < chances.length; c++) {
                    best = chances[c] > chances[best] ? c : best;
                }
                int truth = (int) rows.instance(i).classValue();
                wrong += best == truth ? 0 : 1;
                loss -= Math.log(chances[truth]);
            }
        }
        return new double[] {wrong / rows.numInstances(), loss / rows.numInstances()};
    }

    private static double processor() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    private static double peak() throws Exception {
        for (String line : Files.readAllLines(Paths.get("/proc/self/status"))) {
            if (line.startsWith("VmHWM:")) {
                return Double.parseDouble(line.replaceAll("[^0-9]", "")) * 1024 / 1e6;
            }
        }
        return 0;
    }
}
